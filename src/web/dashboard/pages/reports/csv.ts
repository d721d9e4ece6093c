/** A cell that a spreadsheet would run as a formula begins with an apostrophe. */
const guarded = (text: string): string => (/^[=+\-@\t\r]/u.test(text) ? `'${text}` : text);

const quoted = (text: string): string => (/[",\r\n]/u.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

const cellOf = (value: string | number | null): string =>
  typeof value === "string" ? quoted(guarded(value)) : String(value ?? "");

/** A table as RFC 4180 describes it. */
export const csvOf = (rows: readonly (readonly (string | number | null)[])[]): string =>
  rows.map((row) => `${row.map(cellOf).join(",")}\r\n`).join("");

/** Saves the table as a file. The mark at the start lets spreadsheets read it as UTF-8. */
export function saveCsv(name: string, rows: Parameters<typeof csvOf>[0]): void {
  const url = URL.createObjectURL(new Blob(["\uFEFF", csvOf(rows)], { type: "text/csv;charset=utf-8" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = `${name}.csv`;
  link.click();
  URL.revokeObjectURL(url);
}
