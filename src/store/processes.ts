import type { Tx } from "#engine/ports.ts";

/** How often a running process says that it runs. It is flushed, and with it what was not to wait for the disk. */
export const heartbeatMs = 5_000;
/** Several heartbeats: a busy process misses one. */
export const silentMs = 4 * heartbeatMs;

/** Whether a process has ended, or has not said for a while that it runs. */
export async function isProcessGone(tx: Tx, id: string, now: number): Promise<boolean> {
  const row = await tx.selectFrom("processes").select("heartbeat_at").where("id", "=", id).executeTakeFirst();
  return row === undefined || row.heartbeat_at < now - silentMs;
}
