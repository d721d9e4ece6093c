/** A table as it stands in the documentation. */
export function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  return [line(head), `|${head.map(() => "---").join("|")}|`, ...rows.map(line)].join("\n");
}

/** The rows of the table with this head in a page of the documentation, by the first cell; undefined: there is none. */
export function tableIn(page: string, head: readonly string[]): ReadonlyMap<string, readonly string[]> | undefined {
  const lines = page.split("\n");
  const cells = (line: string): readonly string[] =>
    line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim());
  const at = lines.findIndex((line) => line.startsWith("|") && cells(line).join("|") === head.join("|"));
  if (at < 0) return undefined;
  const rows: [string, readonly string[]][] = [];
  for (const line of lines.slice(at + 2)) {
    if (!line.startsWith("|")) break;
    const row = cells(line);
    rows.push([row[0] ?? "", row]);
  }
  return new Map(rows);
}
