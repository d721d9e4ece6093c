/** Output of a command. With `--json`, stdout gets one JSON value and nothing else. */
export interface Output {
  /** True: the caller wants JSON. */
  readonly json: boolean;
  /** The command's result: `value` for programs, `lines` for people. */
  result(value: unknown, lines: readonly string[]): void;
  /** Prints a step of the command, for people only. */
  progress(line: string): void;
  /** Shows progress: on a terminal in one line that is overwritten, elsewhere in occasional lines. "" ends it. */
  status(line: string): void;
}

const statusMs = 5_000;
const barCells = 24;

export function createOutput(json: boolean): Output {
  const terminal = process.stderr.isTTY;
  let shown = "";
  let shownAt = 0;
  const clear = (): void => {
    if (terminal && shown !== "") process.stderr.write("\r\u001b[2K");
  };
  return {
    json,
    result(value, lines) {
      process.stdout.write(json ? `${JSON.stringify(value, null, 2)}\n` : `${lines.join("\n")}\n`);
    },
    progress(line) {
      if (json) return;
      clear();
      process.stderr.write(`${line}\n`);
    },
    status(line) {
      if (json || line === shown) return;
      if (terminal) {
        clear();
        process.stderr.write(line);
        shown = line;
      } else if (line !== "" && Date.now() - shownAt >= statusMs) {
        process.stderr.write(`${line}\n`);
        shown = line;
        shownAt = Date.now();
      }
    },
  };
}

const styled = process.stdout.isTTY && process.env["NO_COLOR"] === undefined;

export const bold = (text: string): string => (styled ? `\u001b[1m${text}\u001b[22m` : text);
export const dim = (text: string): string => (styled ? `\u001b[2m${text}\u001b[22m` : text);
export const red = (text: string): string => (styled ? `\u001b[31m${text}\u001b[39m` : text);
export const green = (text: string): string => (styled ? `\u001b[32m${text}\u001b[39m` : text);

/** A progress bar, filled to the share of `done` in `total`. */
export function bar(done: number, total: number): string {
  const cells = total === 0 ? 0 : Math.round((Math.min(done, total) / total) * barCells);
  return `${"█".repeat(cells)}${"░".repeat(barCells - cells)}`;
}

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
