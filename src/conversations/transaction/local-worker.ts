import type { OutboxRow } from "#database/queries/outbox.ts";
import { claimLanes } from "#database/queries/outbox.ts";
import type { Effects } from "./effects.ts";
import type { Tx } from "#database/contract.ts";

/** The worker of this process. */
export interface LocalWorker {
  /** Those of these lanes that it can begin with at once; `inRush`: also while events rush in. */
  offer(lanes: readonly string[], inRush?: boolean): readonly string[];
  /** Whether it is at work that somebody waits for. */
  isBusy(): boolean;
  /** Under which it takes work. */
  lease(): { readonly id: string; readonly until: number };
  /** Does what was taken for it, which is durable by now. */
  take(rows: readonly OutboxRow[]): void;
}

/** Absent where this process does no such work. */
export type FindLocalWorker = () => LocalWorker | undefined;

/**
 * Takes for this process what it can begin with at once, in the transaction that stores it: that spares the worker one of
 * its own. Should the process die, the lease ends, and the work is another's.
 */
export async function claimInline(
  tx: Tx,
  localWorker: LocalWorker | undefined,
  effects: Effects,
  now: number,
): Promise<Effects> {
  const due = effects.wake.filter(({ dueAt }) => dueAt <= now).map(({ lane }) => lane);
  return claimThese(tx, localWorker, effects, localWorker?.offer([...new Set(due)]) ?? [], now);
}

/** The same for what an agent does: there are few of them, so it holds up nobody, and waits for no rush to end. */
export async function claimForAgent<E extends Effects | null>(
  tx: Tx,
  localWorker: LocalWorker | undefined,
  effects: E,
  lane: string,
  now: number,
): Promise<E | Effects> {
  const isDue = effects?.wake.some((work) => work.lane === lane && work.dueAt <= now) === true;
  if (effects === null || !isDue) return effects;
  return claimThese(tx, localWorker, effects, localWorker?.offer([lane], true) ?? [], now);
}

async function claimThese(
  tx: Tx,
  localWorker: LocalWorker | undefined,
  effects: Effects,
  lanes: readonly string[],
  now: number,
): Promise<Effects> {
  if (localWorker === undefined || lanes.length === 0) return effects;
  const taken = await claimLanes(tx, lanes, localWorker.lease(), now);
  const begun = new Set(taken.map(({ lane }) => lane));
  return { ...effects, wake: effects.wake.filter(({ lane, dueAt }) => dueAt > now || !begun.has(lane)), taken };
}
