import { hostname } from "node:os";
import type { Clock } from "#runtime/clock.ts";
import type { Log } from "#runtime/log.ts";
import { version } from "#runtime/version.ts";
import type { Store, Tx } from "#database/contract.ts";
import { newId } from "#domain/ids.ts";
import { releaseLeases } from "#database/queries/outbox.ts";
import type { Heartbeats } from "#database/clock-skew.ts";
import type { ProcessWatch } from "#database/process-heartbeat.ts";
import { aheadBy, correctTimes, heartbeatsBeside, isPutBack, runningAheadBy } from "#database/clock-skew.ts";
import { createProcessWatch, heartbeatMs } from "#database/process-heartbeat.ts";

export interface ProcessLease {
  readonly id: string;
  /** Other processes that seemed to run on this database when this one began. */
  readonly others: number;
  /** Knows which of these processes have stopped since. */
  readonly watch: Pick<ProcessWatch, "silent">;
  /** Whether the last of the regular writes of this process succeeded. */
  writes(): boolean;
  close(): Promise<void>;
}

const seemsGoneMs = 60_000;
/** A process that runs has written a heartbeat after this many intervals. */
const watchedBeats = 2;

/**
 * Enters this process in the table of those that run, and releases the work of those that are gone. The work of a process
 * that was killed on this machine goes on at the next start, not when its lease ends.
 */
export async function openProcess(store: Store, clock: Clock, log: Log): Promise<ProcessLease> {
  const ahead = await aheadBy(store, clock.now());
  if (ahead > 0) {
    const before = await heartbeatsBeside(store, null);
    if (before.size > 0) await new Promise<void>((resolve) => void clock.timer(watchedBeats * heartbeatMs, resolve));
    await correct(ahead, before, null);
  }
  const id = newId("ses", clock.now());
  const host = hostname();
  const others = await store.read.selectFrom("processes").selectAll().execute();
  const gone = others.filter((other) => other.host === host && !isAlive(other.pid));
  // Processes on other machines are watched first, since a running one may have a slow clock.
  const seemGone = others.filter((other) => other.host !== host && other.heartbeat_at < clock.now() - seemsGoneMs);
  const started = clock.now();
  const row = { id, host, pid: process.pid, started_at: started, heartbeat_at: started, version };
  await store.write(async (tx) => {
    await remove(tx, new Map(gone.map((other) => [other.id, other.heartbeat_at])));
    await tx.insertInto("processes").values(row).execute();
  });
  const watch = createProcessWatch();
  let stopped = false;
  let writes = true;
  let stop = clock.timer(heartbeatMs, beat);
  let last = started;
  let putBack: { readonly aheadMs: number; readonly before: Heartbeats; beatsLeft: number } | undefined;

  /** The other processes are right if one of them still runs with a later time: their leases must not be shortened. */
  async function correct(aheadMs: number, before: Heartbeats, self: string | null): Promise<void> {
    const after = await heartbeatsBeside(store, self);
    const now = clock.now();
    const behindMs = runningAheadBy(before, after, now);
    if (behindMs > 0) {
      log.error({ aheadMs: behindMs }, "processes: this clock is behind the running processes, check NTP");
      return;
    }
    log.warn({ aheadMs }, "processes: clock was ahead, correcting due times and leases");
    await correctTimes(store, now, aheadMs);
  }

  /** Heartbeats go on while the others are watched: they would take this process for gone. */
  async function heartbeat(): Promise<void> {
    const now = clock.now();
    if (isPutBack(last, now)) {
      const before = await heartbeatsBeside(store, id);
      const aheadMs = last - now + (putBack?.aheadMs ?? 0);
      putBack = { aheadMs, before, beatsLeft: before.size > 0 ? watchedBeats : 0 };
    }
    last = now;
    if (putBack !== undefined && putBack.beatsLeft-- <= 0) {
      await correct(putBack.aheadMs, putBack.before, id);
      putBack = undefined;
    }
    await store.write(async (tx) => {
      const own = tx.updateTable("processes").set({ heartbeat_at: now, version }).where("id", "=", id);
      const { numUpdatedRows } = await own.executeTakeFirstOrThrow();
      // The others took this process for gone while it could not write.
      if (numUpdatedRows === 0n && !stopped) {
        await tx
          .insertInto("processes")
          .values({ ...row, heartbeat_at: now })
          .execute();
      }
      await remove(tx, watch.gone());
    });
    watch.look(await heartbeatsBeside(store, id));
  }

  function beat(): void {
    heartbeat()
      .then(
        () => {
          writes = true;
        },
        (error: unknown) => {
          writes = false;
          log.warn({ err: error }, "processes: heartbeat failed");
        },
      )
      .finally(() => {
        if (!stopped) stop = clock.timer(heartbeatMs, beat);
      });
  }
  return {
    id,
    others: others.length - gone.length - seemGone.length,
    watch,
    writes: () => writes,
    async close() {
      stopped = true;
      stop();
      await store.write(async (tx) => {
        // Releases interrupted requests, so that the client's next try need not wait.
        await releaseLeases(tx, [id]);
        await releaseRequests(tx, [id]);
        await tx.deleteFrom("requests_in_flight").where("process_id", "=", id).execute();
        await tx.deleteFrom("processes").where("id", "=", id).execute();
      });
    },
  };
}

/** Removes processes that have written no other heartbeat since, and releases their work. */
async function remove(tx: Tx, gone: Heartbeats): Promise<void> {
  for (const [id, at] of gone) {
    const own = tx.deleteFrom("processes").where("id", "=", id).where("heartbeat_at", "=", at);
    if ((await own.executeTakeFirstOrThrow()).numDeletedRows === 0n) continue;
    await releaseLeases(tx, [id]);
    await tx.deleteFrom("connection_leases").where("holder", "=", id).execute();
    await releaseRequests(tx, [id]);
    await tx.deleteFrom("requests_in_flight").where("process_id", "=", id).execute();
  }
}

/** Releases interrupted requests with an Idempotency-Key; the next attempt takes them over. */
async function releaseRequests(tx: Tx, processIds: readonly string[]): Promise<void> {
  await tx
    .updateTable("idempotency")
    .set({ process_id: null })
    .where("process_id", "in", processIds)
    .where("status", "is", null)
    .execute();
}

function isAlive(pid: number): boolean {
  // A restarted container has the process number of the one before it.
  if (pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as { readonly code?: unknown }).code === "EPERM";
  }
}
