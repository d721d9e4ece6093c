import type { ExpressionBuilder } from "kysely";
import type { Tx } from "./contract.ts";
import type { Heartbeats } from "./clock-skew.ts";
import type { Database } from "./schema/tables.ts";

/** How often a running process writes a heartbeat. It is flushed, and with it what was not to wait for the disk. */
export const heartbeatMs = 5_000;
/** Several heartbeats: a busy process misses one. */
const silentLooks = 4;
const goneLooks = 12;

/**
 * Finds out which processes have stopped. Their clocks may differ from this one: a heartbeat that is old but changes is
 * that of a running process, so only changes count.
 */
export interface ProcessWatch {
  /** To be called once in `heartbeatMs`, with the heartbeats of the other processes. */
  look(heartbeats: Heartbeats): void;
  /** Last heartbeats of processes that have missed several. One that has written another since runs again. */
  silent(): Heartbeats;
  /** Of those, the ones that will not come back. */
  gone(): Heartbeats;
}

export function createProcessWatch(): ProcessWatch {
  let seen = new Map<string, { readonly at: number; readonly unchanged: number }>();

  const unchangedFor = (looks: number): Heartbeats =>
    new Map([...seen].filter(([, { unchanged }]) => unchanged >= looks).map(([id, { at }]) => [id, at]));

  return {
    look(heartbeats) {
      const before = seen;
      seen = new Map();
      for (const [id, at] of heartbeats) {
        const last = before.get(id);
        seen.set(id, { at, unchanged: last?.at === at ? last.unchanged + 1 : 0 });
      }
    },
    silent: () => unchangedFor(silentLooks),
    gone: () => unchangedFor(goneLooks),
  };
}

/** Whether a process has ended, or has written no heartbeat for a while. */
export async function isProcessGone(tx: Tx, id: string, silent: Heartbeats): Promise<boolean> {
  const row = await tx.selectFrom("processes").select("heartbeat_at").where("id", "=", id).executeTakeFirst();
  return row === undefined || row.heartbeat_at === silent.get(id);
}

/** The condition for rows of `processes` that none of the `silent` ones has left. */
export const notSilent = (silent: Heartbeats) => (eb: ExpressionBuilder<Database, "processes">) =>
  eb.and([...silent].map(([id, at]) => eb.or([eb("processes.id", "<>", id), eb("processes.heartbeat_at", "<>", at)])));
