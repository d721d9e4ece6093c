import { claimLanes, dueLanes, nextDue, releaseLeases, renewLeases } from "#database/queries/outbox.ts";
import type { OutboxRow } from "#database/queries/outbox.ts";
import type { InboundBurst } from "#queue/backpressure.ts";
import type { WorkTable } from "#queue/work-table.ts";
import type { Tx } from "#database/contract.ts";
import { createAfterRun } from "./after-run.ts";
import { createConnectionWatch } from "./connection-watch.ts";
import type { DrainOptions } from "./drain-lane.ts";
import { drainLane } from "./drain-lane.ts";
import type { FailureOptions } from "./failures.ts";
import { createStoreFailure } from "./failures.ts";
import { createLaneStates } from "./lane-states.ts";
import { createLeases } from "./leases.ts";
import { createOutages } from "./outages.ts";
import { createReadyLanes } from "./ready-lanes.ts";

export interface WorkerOptions extends Omit<FailureOptions, "outages"> {
  /** Names this process in leases. */
  readonly processId: string;
  readonly works: WorkTable;
  /** Lanes that may run at the same time. */
  readonly lanesMax: number;
  /** While it is on, a lane starts only after it has waited `heldMs`, because events have senders that wait. */
  readonly inboundBurst: InboundBurst;
}

export interface Worker {
  /** Hints that the lane may have work, due at this time. */
  wake(lane: string, dueAt: number): void;
  /** Returns the lanes that this worker can start now, after those that wait already. `duringBurst`: also during a burst. */
  offer(lanes: readonly string[], duringBurst?: boolean): readonly string[];
  /** Whether work runs that has no `yieldsMs`. */
  isBusy(): boolean;
  /** Claims the due rows of lanes that {@link offer} returned. After the commit, {@link take} must get them. */
  claim(tx: Tx, lanes: readonly string[], now: number): Promise<OutboxRow[]>;
  /** Runs claimed rows. */
  take(rows: readonly OutboxRow[]): void;
  /** Number of running lanes by kind. */
  running(): ReadonlyMap<string, number>;
  /** Waits for running work, `graceMs` at most, and releases rows that have not started. */
  close(graceMs: number): Promise<void>;
}

const leaseMs = 15_000;
const pollMs = 1_000;
const gracefulAbortMs = 500;
/** Longest delay of a lane by a burst. */
const heldMs = 2_000;

/**
 * Drains the lanes of the outbox. The database is the queue; signals only save the wait for the next poll. A lane becomes
 * ready by a signal, a poll or the end of its last run, is claimed with all other ready lanes, and runs.
 */
export function openWorker(options: WorkerOptions): Worker {
  const { store, clock, log, processId, works, inboundBurst } = options;
  const abort = new AbortController();
  const outages = createOutages(clock, log);
  const storeFailure = createStoreFailure({ ...options, outages });
  const lease = createLeases(clock, processId, leaseMs);
  const connection = createConnectionWatch(clock, log);
  // The absolute difference: a clock that is put back or far ahead must not hold lanes.
  const isYounger = (since: number, ms: number): boolean => Math.abs(clock.now() - since) < ms;
  const ready = createReadyLanes((since, kind, alone) => {
    const { yieldsMs = 0 } = works.get(kind) ?? {};
    return (inboundBurst.isOn() && isYounger(since, heldMs)) || (!alone && isYounger(since, yieldsMs));
  });
  const lanes = createLaneStates(works, options.lanesMax, ready);
  const drain: DrainOptions = {
    store,
    processId,
    works,
    outages,
    storeFailure: async (...failure) => {
      const retryAt = await storeFailure(...failure);
      pollAt(retryAt);
      return retryAt;
    },
    signal: abort.signal,
    isClosing: () => closing,
  };
  let closing = false;
  let claiming = false;
  let claimScheduled = false;
  let onIdle: (() => void) | undefined;
  let stopBurstTimer: (() => void) | undefined;
  let pollTimer: { readonly at: number; readonly stop: () => void } | undefined;
  const lookAfterRun = createAfterRun({
    store,
    clock,
    connection,
    onReady: (lane) => ready.add(lane, clock.now()),
    onLooked: scheduleClaim,
    isClosing: () => closing,
  });

  const stopPoll = connection.repeat(pollMs, poll);
  const stopRenewal = connection.repeat(leaseMs / 3, async () => {
    // Only running lanes: the lease of rows whose failure could not be stored must expire.
    await store.write((tx) => renewLeases(tx, lanes.leased(), lease()));
  });
  inboundBurst.onEnd(() => {
    stopBurstTimer?.();
    stopBurstTimer = undefined;
    scheduleClaim();
  });

  async function poll(): Promise<void> {
    if (closing) return;
    const now = clock.now();
    // Rows of full kinds would take places in the result.
    const due = await dueLanes(store.read, now, { except: lanes.fullKinds(), limit: 500 });
    for (const lane of due) ready.add(lane, clock.now());
    scheduleClaim();
    const next = await nextDue(store.read, now);
    if (next !== null) pollAt(next);
  }

  /** Timer work must run on time, not at the next regular poll. */
  function pollAt(at: number): void {
    if (closing || (pollTimer !== undefined && at >= pollTimer.at)) return;
    pollTimer?.stop();
    const stop = clock.timer(Math.min(Math.max(0, at - clock.now()), 60_000), () => {
      pollTimer = undefined;
      void connection.guard(poll);
    });
    pollTimer = { at, stop };
  }

  function wake(lane: string, dueAt: number): void {
    if (dueAt > clock.now()) {
      pollAt(dueAt);
      return;
    }
    ready.add(lane, clock.now());
    scheduleClaim();
  }

  function scheduleClaim(): void {
    if (claimScheduled || claiming || closing || ready.size() === 0) return;
    claimScheduled = true;
    // One claim for all lanes of one turn of the event loop.
    setImmediate(() => {
      claimScheduled = false;
      void connection.guard(claim);
    });
  }

  /** Schedules a claim for the time when the first held lane has waited long enough. */
  function scheduleHeldClaim(): void {
    if (stopBurstTimer !== undefined || !inboundBurst.isOn()) return;
    // Lanes that have waited longer wait for room, not for the end of the burst.
    const oldest = ready.oldest((since) => isYounger(since, heldMs));
    if (oldest === undefined) return;
    stopBurstTimer = clock.timer(Math.max(0, oldest + heldMs - clock.now()), () => {
      stopBurstTimer = undefined;
      scheduleClaim();
    });
  }

  /** Each claim has a lease of its own, since concurrent claims must differ. */
  function claimRows(tx: Tx, claimed: readonly string[], now: number): Promise<OutboxRow[]> {
    return claimLanes(tx, claimed, lease(), now, works.unordered);
  }

  async function claim(): Promise<void> {
    if (claiming || closing) return;
    const claimed = lanes.claimable();
    ready.remove(claimed);
    scheduleHeldClaim();
    if (claimed.length === 0) return;
    claiming = true;
    try {
      const now = clock.now();
      const rows = await store.write((tx) => claimRows(tx, claimed, now), { flush: false });
      for (const [lane, group] of Map.groupBy(rows, (row) => row.lane)) start(lane, group);
    } catch (error) {
      for (const lane of claimed) ready.add(lane, clock.now());
      throw error;
    } finally {
      claiming = false;
      if (lanes.hasRoom() && !connection.isFailing()) scheduleClaim();
    }
  }

  function start(lane: string, rows: readonly OutboxRow[]): void {
    lanes.started(lane);
    void connection
      .guard(() => drainLane(drain, rows))
      .finally(() => {
        lanes.ended(lane);
        lanes.startClaimed(closing, start);
        // Claims skip a running lane, so rows that arrived meanwhile are still there.
        if (!lanes.isRunning(lane)) lookAfterRun(lane);
        scheduleClaim();
        if (lanes.isIdle()) onIdle?.();
      });
  }

  return {
    wake,
    offer(wanted, duringBurst = false) {
      if (closing || connection.isFailing() || (inboundBurst.isOn() && !duringBurst)) return [];
      return lanes.offer(wanted, duringBurst);
    },
    isBusy: () => lanes.isBusy(),
    claim: claimRows,
    take(rows) {
      lanes.addClaimed(rows);
      lanes.startClaimed(closing, start);
    },
    running: () => lanes.runningByKind(),
    async close(graceMs) {
      closing = true;
      pollTimer?.stop();
      stopBurstTimer?.();
      stopPoll();
      stopRenewal();
      // A started lane releases its rows while the worker closes.
      lanes.startClaimed(closing, start);
      const idle = new Promise<void>((resolve) => {
        onIdle = resolve;
        if (lanes.isIdle()) resolve();
      });
      const cancelGrace = clock.timer(Math.max(0, graceMs - gracefulAbortMs), () =>
        abort.abort(new Error("the program stops")),
      );
      await Promise.race([idle, new Promise((resolve) => setTimeout(resolve, graceMs).unref())]);
      cancelGrace();
      // Only these lanes: API queries in progress hold leases of this process too, and continue.
      await store.write((tx) => releaseLeases(tx, [processId], lanes.leased()));
    },
  };
}
