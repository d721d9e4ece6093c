import type { OutboxRow } from "#database/queries/outbox.ts";
import type { Effects } from "#conversations/work/effects.ts";
import type { Tx } from "#database/contract.ts";

/** The worker of this process. */
export interface LocalWorker {
  /** Returns the lanes that this worker can start at once. `duringBurst`: also while inbound events have priority. */
  offer(lanes: readonly string[], duringBurst?: boolean): readonly string[];
  /** Whether it runs work on which a person waits. */
  isBusy(): boolean;
  /** Claims the due work of these lanes for itself. */
  claim(tx: Tx, lanes: readonly string[], now: number): Promise<OutboxRow[]>;
  /** Runs claimed rows. Called after the commit. */
  take(rows: readonly OutboxRow[]): void;
}

/** Undefined in a process that does not run such work. */
export type FindLocalWorker = () => LocalWorker | undefined;

/**
 * Claims work for this process in the transaction that queues it, which saves the worker a transaction. If the process
 * dies, the lease expires and another process claims the work.
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

/** Claims the work of an agent's action. Not delayed by a burst of inbound events, since agents' actions are few. */
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
  const taken = await localWorker.claim(tx, lanes, now);
  const begun = new Set(taken.map(({ lane }) => lane));
  return { ...effects, wake: effects.wake.filter(({ lane, dueAt }) => dueAt > now || !begun.has(lane)), taken };
}
