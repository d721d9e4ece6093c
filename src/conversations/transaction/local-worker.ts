import type { OutboxRow } from "#database/queries/outbox.ts";
import { claimLanes } from "#database/queries/outbox.ts";
import type { Effects } from "./unit-of-work.ts";
import type { Tx } from "#database/contract.ts";

/** The worker of this process. */
export interface Hands {
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
export type FindHands = () => Hands | undefined;

/**
 * Takes for this process what it can begin with at once, in the transaction that stores it: that spares the worker one of
 * its own. Should the process die, the lease ends, and the work is another's.
 */
export async function takeAtOnce(tx: Tx, hands: Hands | undefined, effects: Effects, now: number): Promise<Effects> {
  const due = effects.wake.filter(({ dueAt }) => dueAt <= now).map(({ lane }) => lane);
  return takeThese(tx, hands, effects, hands?.offer([...new Set(due)]) ?? [], now);
}

/** The same for what an agent does: there are few of them, so it holds up nobody, and waits for no rush to end. */
export async function takeOfAgent<E extends Effects | null>(
  tx: Tx,
  hands: Hands | undefined,
  effects: E,
  lane: string,
  now: number,
): Promise<E | Effects> {
  const isDue = effects?.wake.some((work) => work.lane === lane && work.dueAt <= now) === true;
  if (effects === null || !isDue) return effects;
  return takeThese(tx, hands, effects, hands?.offer([lane], true) ?? [], now);
}

async function takeThese(
  tx: Tx,
  hands: Hands | undefined,
  effects: Effects,
  lanes: readonly string[],
  now: number,
): Promise<Effects> {
  if (hands === undefined || lanes.length === 0) return effects;
  const taken = await claimLanes(tx, lanes, hands.lease(), now);
  const begun = new Set(taken.map(({ lane }) => lane));
  return { ...effects, wake: effects.wake.filter(({ lane, dueAt }) => dueAt > now || !begun.has(lane)), taken };
}
