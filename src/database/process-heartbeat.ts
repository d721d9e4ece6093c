import type { ExpressionBuilder } from "kysely";
import type { Tx } from "./contract.ts";
import type { Heartbeats } from "./clock-skew.ts";
import type { Database } from "./schema/tables.ts";

/** Interval of a running process's heartbeats. Each is flushed to disk, together with earlier unflushed commits. */
export const heartbeatMs = 5_000;
/** A busy process can miss one heartbeat. */
const silentLooks = 4;
const goneLooks = 12;

/**
 * Finds out which processes have stopped. Clocks of processes differ, so only a change of a heartbeat counts, not its
 * age.
 */
export interface ProcessWatch {
  /** Must be called every `heartbeatMs` with the heartbeats of the other processes. */
  look(heartbeats: Heartbeats): void;
  /** Last heartbeats of processes that missed several. A process with a later heartbeat runs again. */
  silent(): Heartbeats;
  /** The silent processes that will not return. */
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

/** Whether a process has ended, or is silent. */
export async function isProcessGone(tx: Tx, id: string, silent: Heartbeats): Promise<boolean> {
  const row = await tx.selectFrom("processes").select("heartbeat_at").where("id", "=", id).executeTakeFirst();
  return row === undefined || row.heartbeat_at === silent.get(id);
}

/** The condition for rows of processes that are not `silent`. */
export const notSilent = (silent: Heartbeats) => (eb: ExpressionBuilder<Database, "processes">) =>
  eb.and([...silent].map(([id, at]) => eb.or([eb("processes.id", "<>", id), eb("processes.heartbeat_at", "<>", at)])));
