import { bucketOf } from "./duration-buckets.ts";
import { localHour } from "./local-time.ts";
import { durations } from "./metrics.ts";
import type { Count } from "./tally.ts";

/** Each day's counts are divided in four ways. The rows of all channels together are the totals. */
export const dimensions = ["channel", "hour", "agent", "tag"] as const;
export type Dimension = (typeof dimensions)[number];

/** A row of the reports of one workspace. */
export interface Cell {
  readonly dimension: Dimension;
  /** Days since 1970 of the local date. */
  readonly day: number;
  /** The channel, the hour, the agent's address or the tag. */
  readonly name: string;
  /** A counter, or a duration with its bucket: `resolution:42`. */
  readonly metric: string;
}

/** The increments of cells, added up. */
export interface CellSums {
  add(cell: Cell, value: number): void;
  /** Without sums of 0. */
  list(): readonly (Cell & { readonly value: number })[];
}

export function createCellSums(): CellSums {
  const sums = new Map<string, Cell & { value: number }>();
  return {
    add(cell, value) {
      const { dimension, day, name, metric } = cell;
      const key = `${dimension}\n${day}\n${metric}\n${name}`;
      const sum = sums.get(key);
      if (sum === undefined) sums.set(key, { dimension, day, name, metric, value });
      else sum.value += value;
    },
    list: () => [...sums.values()].filter(({ value }) => value !== 0),
  };
}

const isDuration: ReadonlySet<string> = new Set(durations);

export function addCounts(sums: CellSums, counts: readonly Count[], channel: string, timezone: string): void {
  for (const { metric, ms = 0, at, by, agent, tags, tagsOnly } of counts) {
    const { day, hour } = localHour(timezone, at);
    const stored = isDuration.has(metric) ? `${metric}:${bucketOf(ms)}` : metric;
    for (const name of tags) sums.add({ dimension: "tag", day, name, metric: stored }, by);
    if (tagsOnly === true) continue;
    sums.add({ dimension: "channel", day, name: channel, metric: stored }, by);
    if (agent !== null) sums.add({ dimension: "agent", day, name: agent, metric: stored }, by);
    sums.add({ dimension: "hour", day, name: String(hour), metric: stored }, by);
  }
}
