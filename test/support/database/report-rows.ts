import { bucketOf } from "#domain/reporting/duration-buckets.ts";
import { dayOfDate } from "#domain/reporting/local-time.ts";
import { counters } from "#domain/reporting/metrics.ts";
import type { Dimension } from "#domain/reporting/cells.ts";
import { createCellSums } from "#domain/reporting/cells.ts";
import type { Store, Tx } from "#database/contract.ts";
import type { CountedCell } from "#conversations/reporting/counts.ts";
import { addToCounts } from "#conversations/reporting/counts.ts";

const channels = { widget: 0.5, telegram: 0.25, email: 0.15, api: 0.1 };
const shares: Readonly<Record<string, number>> = {
  messages_by_customers: 2.4,
  messages_by_bot: 2.1,
  messages_by_agents: 0.6,
  unanswered: 0.15,
  assigned: 0.3,
  handed_over: 0.28,
  handed_over_asked: 0.12,
  handed_over_low_confidence: 0.08,
  handed_over_anger: 0.02,
  handed_over_rule: 0.03,
  handed_over_other: 0.03,
  resolved: 0.95,
  resolved_by_bot: 0.68,
  reopened: 0.06,
  sla_met: 0.86,
  sla_missed: 0.09,
  surveys: 0.9,
  ratings: 0.27,
  rated_1: 0.01,
  rated_2: 0.02,
  rated_3: 0.03,
  rated_4: 0.08,
  rated_5: 0.13,
};

const daysAtOnce = 30;

export interface SeededReports {
  readonly from: string;
  readonly to: string;
  readonly conversationsADay: number;
  readonly agents: readonly string[];
  readonly tags?: number;
}

/** Stores the counts that a busy workspace would have. The numbers follow a curve, so that they are the same each time. */
export async function seedReports(store: Store, workspaceId: string, given: SeededReports): Promise<number> {
  const [from, to] = [given.from, given.to].map((date) => dayOfDate(date) ?? 0) as [number, number];
  let written = 0;
  for (let first = from; first <= to; first += daysAtOnce) {
    const days = Array.from({ length: Math.min(daysAtOnce, to - first + 1) }, (_, i) => first + i);
    const cells = days.flatMap((day) => cellsOfDay(day, given));
    await store.write((tx) => storeCells(tx, workspaceId, cells));
    written += cells.length;
  }
  return written;
}

/** Stores counts as if conversations had made them. */
export async function storeCells(tx: Tx, workspaceId: string, cells: readonly CountedCell[]): Promise<void> {
  const sums = createCellSums();
  for (const { value, ...cell } of cells) sums.add(cell, value);
  await addToCounts(tx, workspaceId, sums, false);
}

function cellsOfDay(day: number, { conversationsADay, agents, tags = 20 }: SeededReports): readonly CountedCell[] {
  const isWeekend = (day + 3) % 7 >= 5;
  const total = conversationsADay * (isWeekend ? 0.4 : 1) * (1 + 0.25 * Math.sin(day / 9));
  const hours = Array.from({ length: 24 }, (_, hour) => String(hour));
  return [
    ...Object.entries(channels).flatMap(([name, share]) => [
      ...countsOf("channel", day, name, total * share),
      ...timesOf("channel", day, name, total * share),
    ]),
    ...hours.flatMap((name) => {
      const share = (total / 24) * (1 + Math.sin((Number(name) - 7) / 3.8));
      return [...countsOf("hour", day, name, share), ...timesOf("hour", day, name, share)];
    }),
    ...agents.flatMap((name) => [
      ...countsOf("agent", day, name, total / agents.length / 4),
      ...timesOf("agent", day, name, total / agents.length / 4),
    ]),
    ...Array.from({ length: tags }, (_, i) => countsOf("tag", day, `tag ${i + 1}`, total / (i + 2))).flat(),
  ];
}

function countsOf(dimension: Dimension, day: number, name: string, conversations: number): readonly CountedCell[] {
  return counters.flatMap((metric): readonly CountedCell[] => {
    const value = Math.round(conversations * (shares[metric] ?? 1));
    return value === 0 ? [] : [{ dimension, day, name, metric, value }];
  });
}

/** The bot replies within seconds, people within an hour or so; conversations last a day or so. */
function timesOf(dimension: Dimension, day: number, name: string, conversations: number): readonly CountedCell[] {
  const spread = (duration: string, middleMs: number, share: number): readonly CountedCell[] => {
    const middle = bucketOf(middleMs * (1 + 0.3 * Math.sin(day / 5)));
    return Array.from({ length: 31 }, (_, i) => {
      const value = Math.round(conversations * share * 0.08 * Math.exp(-((i - 15) ** 2) / 50));
      return { dimension, day, name, metric: `${duration}:${middle - 15 + i}`, value };
    }).filter(({ value }) => value > 0);
  };
  return [
    ...spread("first_reply", 1_500, 1),
    ...spread("person_reply", 25 * 60_000, 0.25),
    ...spread("resolution", 20 * 3_600_000, 0.95),
  ];
}
