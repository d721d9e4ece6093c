/** Where a command writes. With `--json` the one JSON value is all that stdout gets. */
export interface Output {
  /** True: the caller wants JSON. */
  readonly json: boolean;
  /** The command's result: `value` for programs, `lines` for people. */
  result(value: unknown, lines: readonly string[]): void;
  /** Something on the way, for people only. */
  progress(line: string): void;
}

export function createOutput(json: boolean): Output {
  return {
    json,
    result(value, lines) {
      process.stdout.write(json ? `${JSON.stringify(value, null, 2)}\n` : `${lines.join("\n")}\n`);
    },
    progress(line) {
      if (!json) process.stderr.write(`${line}\n`);
    },
  };
}

const styled = process.stdout.isTTY && process.env["NO_COLOR"] === undefined;

export const bold = (text: string): string => (styled ? `\u001b[1m${text}\u001b[22m` : text);
export const dim = (text: string): string => (styled ? `\u001b[2m${text}\u001b[22m` : text);
export const red = (text: string): string => (styled ? `\u001b[31m${text}\u001b[39m` : text);
export const green = (text: string): string => (styled ? `\u001b[32m${text}\u001b[39m` : text);

/** Columns as wide as their longest cell. */
export function table(headings: readonly string[], rows: readonly (readonly (string | number | null)[])[]): string[] {
  const cells = rows.map((row) => row.map((cell) => (cell === null ? "–" : String(cell))));
  const widths = headings.map((heading, i) => Math.max(heading.length, ...cells.map((row) => row[i]?.length ?? 0)));
  const line = (row: readonly string[]): string =>
    row
      .map((cell, i) => cell.padEnd(widths[i] ?? 0))
      .join("  ")
      .trimEnd();
  return [bold(line(headings)), ...cells.map(line)];
}
