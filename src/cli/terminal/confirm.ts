import { createInterface } from "node:readline/promises";
import { UsageError } from "./arguments.ts";

/** Asks the user to type the expected text. `--yes` skips the question. */
export async function confirmed(yes: boolean, question: string, expected: string): Promise<boolean> {
  if (yes) return true;
  if (!process.stdin.isTTY) throw new UsageError("this cannot be undone: add --yes to run it without a terminal");
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return (await terminal.question(`${question} `)).trim() === expected;
  } finally {
    terminal.close();
  }
}
