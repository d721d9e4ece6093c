import { readFileSync } from "node:fs";
import { expect } from "vitest";
import type { Line } from "./line-up.ts";
import { countedLineUp } from "./line-up.ts";
import { markdownTable, tableIn } from "../markdown-table.ts";
import type { Tally } from "../tally.ts";
import { tallyText } from "../tally.ts";

const page = new URL("../../../docs/channels.md", import.meta.url);
/** Shown where a channel does not have the fault. */
const notApplicable = "–";

/** Counts by channel, then by fault. */
export type FaultCounts = ReadonlyMap<string, { readonly inbound: Tally; readonly outbound: Tally }>;

const tables = [
  ["inbound", "to the agents"],
  ["outbound", "to the customer"],
] as const;

/** Compares the counts with the tables in docs/channels.md, which have a column for each fault. */
export function expectDocumented(faults: readonly string[], lines: readonly Line[], found: FaultCounts): void {
  const made = tables.map(([direction, first]) => {
    const cell = (channel: string, fault: string): string => {
      const counted = found.get(`${channel}\n${fault}`);
      return counted === undefined ? notApplicable : tallyText(counted[direction]);
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
      const documentedRow = documented?.rows.find(([name]) => name === row[0]);
      expect(
        columns.map((column) => documentedRow?.[column]),
        unlike,
      ).toEqual(row);
    }
  }
}

/**
 * Compares how often each reply was shown with the table in docs/channels.md. The table has a line for each fault, one
 * column for each channel that cannot look up its sent messages, and one for all others.
 */
export function expectDocumentedAnswers(
  faults: readonly string[],
  channels: readonly string[],
  found: ReadonlyMap<string, string>,
): void {
  const own = ["Telegram", "WhatsApp at Meta"];
  const cell = (fault: string, names: readonly string[]): string => {
    const words = Map.groupBy(names, (name) => found.get(`${name}\n${fault}`) ?? notApplicable);
    const [only] = words.keys();
    if (words.size === 1 && only !== undefined) return only;
    return [...words].map(([word, of]) => `${word} (${of.join(", ")})`).join("; ");
  };
  const rest = channels.filter((name) => !own.includes(name));
  const rows = faults.map((fault) => [fault, ...own.map((name) => cell(fault, [name])), cell(fault, rest)]);
  const first = "the answer to a reply";
  const head = [first, ...own, "other platforms"];
  const text = markdownTable(head, rows);
  process.stdout.write(`\n${text}\n\n`);
  const documented = tableIn(readFileSync(page, "utf8"), first);
  const unlike = `docs/channels.md has other words than:\n${text}`;
  expect(documented?.head, unlike).toEqual(head);
  for (const row of rows)
    expect(
      documented?.rows.find(([fault]) => fault === row[0]),
      unlike,
    ).toEqual(row);
}
