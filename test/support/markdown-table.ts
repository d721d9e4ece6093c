/** Formats a table as it appears in the documentation. */
export function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  return [line(head), `|${head.map(() => "---").join("|")}|`, ...rows.map(line)].join("\n");
}

export interface Table {
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** Reads the table of a page whose first column has this name; undefined if there is none. */
export function tableIn(page: string, first: string): Table | undefined {
  const lines = page.split("\n");
  const cells = (line: string): readonly string[] =>
    line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim());
  const at = lines.findIndex((line) => line.startsWith("|") && cells(line)[0] === first);
  if (at < 0) return undefined;
  const length = lines.slice(at).findIndex((line) => !line.startsWith("|"));
  const [head = "", , ...rows] = lines.slice(at, length < 0 ? undefined : at + length);
  return { head: cells(head), rows: rows.map(cells) };
}
