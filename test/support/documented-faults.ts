import { readFileSync } from "node:fs";
import { expect } from "vitest";
import type { Line } from "./line-up.ts";
import { countedLineUp } from "./line-up.ts";
import { markdownTable, tableIn } from "./tables.ts";
import type { Tally } from "./tally.ts";
import { tallyText } from "./tally.ts";

const page = new URL("../../docs/channels.md", import.meta.url);
/** What a channel does not know. */
const never = "–";

/** By channel and fault, each on a line. */
export type Found = ReadonlyMap<string, { readonly inbound: Tally; readonly outbound: Tally }>;

const tables = [
  ["inbound", "to the agents"],
  ["outbound", "to the customer"],
] as const;

/** Compares what was counted with the tables in docs/channels.md; a fault is a column there. */
export function expectDocumented(faults: readonly string[], lines: readonly Line[], found: Found): void {
  const made = tables.map(([direction, first]) => {
    const cell = (channel: string, fault: string): string => {
      const counted = found.get(`${channel}\n${fault}`);
      return counted === undefined ? never : tallyText(counted[direction]);
    };
    return { first, rows: lines.map(({ name }) => [name, ...faults.map((fault) => cell(name, fault))]) };
  });
  const text = made.map(({ first, rows }) => markdownTable([first, ...faults], rows)).join("\n\n");
  process.stdout.write(`\n${text}\n\n`);
  const unlike = `docs/channels.md has other numbers than:\n${text}`;
  for (const { first, rows } of made) {
    const documented = tableIn(readFileSync(page, "utf8"), first);
    expect(
      documented?.rows.map(([name]) => name),
      unlike,
    ).toEqual(countedLineUp.map(({ name }) => name));
    const columns = [0, ...faults.map((fault) => documented?.head.indexOf(fault) ?? -1)];
    for (const row of rows) {
      const said = documented?.rows.find(([name]) => name === row[0]);
      expect(
        columns.map((column) => said?.[column]),
        unlike,
      ).toEqual(row);
    }
  }
}
