import { createInterface } from "node:readline/promises";
import { UsageError } from "./arguments.ts";

/** Whether somebody at the terminal types what is expected; `--yes` says it beforehand. */
export async function confirmed(yes: boolean, question: string, expected: string): Promise<boolean> {
  if (yes) return true;
  if (!process.stdin.isTTY) throw new UsageError("this cannot be undone: add --yes where nobody can be asked");
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return (await terminal.question(`${question} `)).trim() === expected;
  } finally {
    terminal.close();
  }
}
