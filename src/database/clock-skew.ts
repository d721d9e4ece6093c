import { sql } from "kysely";
import type { Store } from "./contract.ts";

/** Normal difference between the clocks of two servers. */
const slackMs = 5_000;
/** Longest lease, from its start or renewal. */
const leaseMaxMs = 180_000;
/** Rest of a shortened lease. A holder that still runs renews it within this time. */
const leaseLeftMs = 45_000;

/** How far the clock was ahead of `now`, in milliseconds, when recent rows were stored; 0 within the normal difference. */
export async function aheadBy(store: Pick<Store, "read">, now: number): Promise<number> {
  const { read } = store;
  const newest = await Promise.all([
    read
      .selectFrom("processes")
      .select((eb) => eb.fn.max("heartbeat_at").as("at"))
      .executeTakeFirst(),
    read
      .selectFrom("outbox")
      .select((eb) => eb.fn.max("created_at").as("at"))
      .executeTakeFirst(),
    read
      .selectFrom("webhook_queue")
      .select((eb) => eb.fn.max("created_at").as("at"))
      .executeTakeFirst(),
    read
      .selectFrom("inbound_events")
      .select((eb) => eb.fn.max("received_at").as("at"))
      .executeTakeFirst(),
  ]);
  const ahead = Math.max(...newest.map((row) => row?.at ?? 0)) - now;
  return ahead > slackMs ? ahead : 0;
}

/** Whether the clock was put back after it showed `before`. */
export const isPutBack = (before: number, now: number): boolean => before - now > slackMs;

/** Heartbeats of other processes, by process id. */
export type Heartbeats = ReadonlyMap<string, number>;

export async function heartbeatsBeside(store: Pick<Store, "read">, id: string | null): Promise<Heartbeats> {
  const rows = await store.read.selectFrom("processes").select(["id", "heartbeat_at"]).execute();
  return new Map(rows.filter((row) => row.id !== id).map((row) => [row.id, row.heartbeat_at]));
}

/** How far a running process is ahead of `now`; a process runs if its heartbeat changed since `before`. 0: none is ahead. */
export function runningAheadBy(before: Heartbeats, after: Heartbeats, now: number): number {
  const moved = [...after].filter(([id, at]) => before.get(id) !== at);
  const ahead = Math.max(...moved.map(([, at]) => at), now) - now;
  return ahead > slackMs ? ahead : 0;
}

/**
 * Corrects times that were stored while the clock was ahead by `aheadMs`; without it, work and leases would wait for that
 * time. Times set by people, such as the end of a snooze, stay. Work that is retried too early sets its next time itself.
 */
export async function correctTimes(store: Pick<Store, "write">, now: number, aheadMs: number): Promise<void> {
  const sooner = sql<number>`case when due_at - ${aheadMs} > ${now} then due_at - ${aheadMs} else ${now} end`;
  await store.write(async (tx) => {
    // Deferred work comes first, so that new work keeps its delay.
    await tx
      .updateTable("outbox")
      .set({ due_at: sooner })
      .where("dead_at", "is", null)
      .where("due_at", ">", now)
      .where("created_at", "<=", now)
      // Untried follow-ups are scheduled on purpose.
      .where((eb) => eb.or([eb("lane", "not like", "follow:%"), eb("attempts", ">", 0)]))
      .execute();
    await tx
      .updateTable("outbox")
      .set({ due_at: sql<number>`due_at - (created_at - ${now})` })
      .where("dead_at", "is", null)
      .where("created_at", ">", now)
      .execute();
    await tx.updateTable("outbox").set({ created_at: now }).where("created_at", ">", now).execute();
    await tx
      .updateTable("outbox")
      .set({ lease_until: now + leaseLeftMs })
      .where("lease_until", ">", now + leaseMaxMs)
      .execute();
    await tx.updateTable("webhook_queue").set({ due_at: sooner }).where("due_at", ">", now).execute();
    await tx.updateTable("webhook_queue").set({ created_at: now }).where("created_at", ">", now).execute();
    await tx
      .updateTable("connection_leases")
      .set({ lease_until: now + leaseLeftMs })
      .where("lease_until", ">", now + leaseMaxMs)
      .execute();
    await tx
      .updateTable("idempotency")
      .set({ lease_until: now + leaseLeftMs })
      .where("status", "is", null)
      .where("lease_until", ">", now + leaseMaxMs)
      .execute();
    // Future windows would already be full when they begin.
    await tx.deleteFrom("counters").where("window_start", ">", now).execute();
    await tx.updateTable("processes").set({ heartbeat_at: now }).where("heartbeat_at", ">", now).execute();
    // Time-based rules would skip everything due before this time.
    await tx.updateTable("conversations").set({ rules_until: now }).where("rules_until", ">", now).execute();
  });
}
