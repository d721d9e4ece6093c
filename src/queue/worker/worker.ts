import {
  LostLease,
  PartlyFailed,
  claimLanes,
  deferWork,
  dueLanes,
  lanesWithWork,
  nextDue,
  releaseLeases,
  renewLeases,
  unorderedKinds,
} from "#database/queries/outbox.ts";
import type { OutboxRow } from "#database/queries/outbox.ts";
import { createOutages } from "./outages.ts";
import { createReadyLanes, kindOf } from "./ready-lanes.ts";
import type { Clock } from "#runtime/clock.ts";
import type { Log } from "#runtime/log.ts";
import type { InboundBurst } from "#queue/backpressure.ts";
import type { Store, Tx } from "#database/contract.ts";

/** Runs one kind of work. It deletes its rows itself, in the transaction that stores the result. */
export interface Handler {
  /** True: `run` gets all due rows of a lane at once. False: one row at a time. */
  readonly batch: boolean;
  /** Tries before a row becomes a dead letter. */
  readonly attemptsMax: number;
  /** Lanes of this kind that may run at the same time. Absent: no limit but the worker's own. */
  readonly lanesMax?: number;
  /** Longest delay in favour of other work. Rows that arrive meanwhile are done in the same run. */
  readonly yieldsMs?: number;
  run(rows: readonly OutboxRow[], signal: AbortSignal): Promise<void>;
  /** True: the work is retried after this failure however often it was tried. */
  waitsOut?(row: OutboxRow, error: unknown, now: number): boolean;
  /** False: tries that `waitsOut` covers do not count towards `attemptsMax`. Absent: they count. */
  readonly countsWaiting?: false;
  /** Stores the consequences of a dead letter. The returned callback is called after the commit. */
  abandoned?(tx: Tx, row: OutboxRow, reason: string, now: number): Promise<() => void>;
}

export interface WorkerOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  /** Names this process in leases. */
  readonly processId: string;
  readonly handlers: Readonly<Record<string, Handler | undefined>>;
  /** Whether this version can read the row's payload. Rows it cannot read are left to a newer version. Absent: always. */
  readonly reads?: (row: OutboxRow) => boolean;
  /** Lanes that may run at the same time. */
  readonly lanesMax: number;
  /** Milliseconds to wait after a failed try. */
  readonly backoffMs: (attempts: number, error: unknown) => number;
  /** Names the server whose absence caused the failure. Each outage is logged once, and its end once. */
  readonly awayServer?: (error: unknown) => string | undefined;
  /** While it is on, a lane starts only after it has waited `heldMs`, because events have senders that wait. */
  readonly inboundBurst: InboundBurst;
}

export interface Worker {
  /** Hints that the lane may have work, due at this time. */
  wake(lane: string, dueAt: number): void;
  /** Returns the lanes that this worker can start now, after those that wait already. `inRush`: also during a burst. */
  offer(lanes: readonly string[], inRush?: boolean): readonly string[];
  /** Whether work runs that has no `yieldsMs`. */
  isBusy(): boolean;
  /** A lease for rows that {@link take} gets. A new one for each transaction. */
  lease(): { readonly id: string; readonly until: number };
  /** Runs claimed rows of lanes that {@link offer} returned. */
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
 * During an upgrade the outbox can hold rows of a newer version. They are left to it for more than two hours. The delay is
 * short, because it also delays the process that can do the work.
 */
const leftMs = 10_000;
const leftAttemptsMax = 750;

const leftBecause = {
  newer: "left to a newer version",
  elsewhere: "left to a process that is set up for it",
} as const;

class LeftWork extends Error {
  constructor(reason: keyof typeof leftBecause, why: string) {
    super(`${leftBecause[reason]}: ${why}`);
    this.name = "LeftWork";
  }
}

/**
 * Whether the last try was by a process that could not do this work. Older versions stored the same prefixes of the error,
 * so these must not change.
 */
const wasLeft = ({ last_error: error }: OutboxRow): boolean =>
  error !== null && Object.values(leftBecause).some((because) => error.startsWith(because));

/** Drains the lanes of the outbox. The database is the queue; signals only save the wait for the next poll. */
export function openWorker(options: WorkerOptions): Worker {
  const { store, clock, log, processId, handlers, inboundBurst } = options;
  const abort = new AbortController();
  // The absolute difference: a clock that is put back or far ahead must not hold lanes.
  const isYounger = (since: number, ms: number): boolean => Math.abs(clock.now() - since) < ms;
  const readyLanes = createReadyLanes((since, kind, alone) => {
    const { yieldsMs = 0 } = handlers[kind] ?? {};
    return (inboundBurst.isOn() && isYounger(since, heldMs)) || (!alone && isYounger(since, yieldsMs));
  });
  let stopHeld: (() => void) | undefined;
  const running = new Set<string>();
  /** Claimed rows that have not started, by lane. */
  const handed = new Map<string, readonly OutboxRow[]>();
  /** Lanes that have run and may have new rows. */
  const ended = new Set<string>();
  let looking = false;
  let closing = false;
  let claiming = false;
  let scheduled = false;
  let stopTimer: () => void = () => undefined;
  let timerAt = Number.POSITIVE_INFINITY;
  /** End of the newest lease. */
  let leasedUntil = 0;
  let onIdle: (() => void) | undefined;
  const outages = createOutages(clock, log);
  let failing = false;

  const stopPoll = repeat(pollMs, poll);
  const stopRenewal = repeat(leaseMs / 3, async () => {
    // Only running lanes: the lease of rows whose failure could not be stored must expire.
    await store.write((tx) => renewLeases(tx, [...running, ...handed.keys()], lease()));
  });
  inboundBurst.onEnd(() => {
    stopHeld?.();
    stopHeld = undefined;
    schedule();
  });

  function repeat(everyMs: number, run: () => Promise<void>): () => void {
    let stop = clock.timer(everyMs, tick);
    let stopped = false;
    function tick(): void {
      void guarded(run).finally(() => {
        if (!stopped) stop = clock.timer(everyMs, tick);
      });
    }
    return () => {
      stopped = true;
      stop();
    };
  }

  /** Logs a database outage once. The worker goes on after it. */
  async function guarded(run: () => Promise<void>): Promise<void> {
    try {
      await run();
      if (failing) log.info({}, "outbox: database connection restored");
      failing = false;
    } catch (error) {
      if (!failing) log.error({ err: error }, "outbox: database unreachable, retrying");
      failing = true;
    }
  }

  async function poll(): Promise<void> {
    if (closing) return;
    const now = clock.now();
    // Rows of full kinds would take places in the result.
    for (const lane of await dueLanes(store.read, now, { except: fullKinds(), limit: 500 }))
      readyLanes.add(lane, clock.now());
    schedule();
    const due = await nextDue(store.read, now);
    if (due !== null) arm(due);
  }

  /** Timer work must run on time, not at the next poll. */
  function arm(at: number): void {
    if (closing || at >= timerAt) return;
    stopTimer();
    timerAt = at;
    stopTimer = clock.timer(Math.min(Math.max(0, at - clock.now()), 60_000), () => {
      timerAt = Number.POSITIVE_INFINITY;
      void guarded(poll);
    });
  }

  function lease(): { readonly id: string; readonly until: number } {
    const until = clock.now() + leaseMs;
    // After a clock was put back, leases must not follow the old, later time.
    const isOfNow = Math.abs(until - leasedUntil) < leaseMs;
    leasedUntil = isOfNow ? Math.max(until, leasedUntil + 1) : until;
    return { id: processId, until: leasedUntil };
  }

  function wake(lane: string, dueAt: number): void {
    if (dueAt > clock.now()) {
      arm(dueAt);
      return;
    }
    readyLanes.add(lane, clock.now());
    schedule();
  }

  function schedule(): void {
    if (scheduled || claiming || closing || readyLanes.size() === 0) return;
    scheduled = true;
    // One claim for all lanes of one turn of the event loop.
    setImmediate(() => {
      scheduled = false;
      void guarded(claim);
    });
  }

  function roomFor(kind: string): number {
    const max = handlers[kind]?.lanesMax;
    if (max === undefined) return Number.POSITIVE_INFINITY;
    return max - [...running].filter((lane) => kindOf(lane) === kind).length;
  }

  function fullKinds(): string[] {
    return Object.keys(handlers).filter((kind) => roomFor(kind) <= 0);
  }

  /** Ready lanes that there is room for. */
  const nextLanes = (): string[] =>
    readyLanes.next(options.lanesMax - running.size, roomFor, (lane) => running.has(lane));

  /** Schedules a claim for the time when the first held lane has waited long enough. */
  function armHeld(): void {
    if (stopHeld !== undefined || !inboundBurst.isOn()) return;
    // Lanes that have waited longer wait for room, not for the end of the burst.
    const oldest = readyLanes.oldest((since) => isYounger(since, heldMs));
    if (oldest === undefined) return;
    stopHeld = clock.timer(Math.max(0, oldest + heldMs - clock.now()), () => {
      stopHeld = undefined;
      schedule();
    });
  }

  async function claim(): Promise<void> {
    if (claiming || closing) return;
    const lanes = nextLanes();
    readyLanes.remove(lanes);
    armHeld();
    if (lanes.length === 0) return;
    claiming = true;
    try {
      const now = clock.now();
      const rows = await store.write((tx) => claimLanes(tx, lanes, lease(), now), { flush: false });
      for (const [lane, group] of Map.groupBy(rows, (row) => row.lane)) begin(lane, group);
    } catch (error) {
      for (const lane of lanes) readyLanes.add(lane, clock.now());
      throw error;
    } finally {
      claiming = false;
      if (readyLanes.size() > 0 && running.size < options.lanesMax && !failing) schedule();
    }
  }

  function begin(lane: string, rows: readonly OutboxRow[]): void {
    running.add(lane);
    void guarded(() => drain(rows)).finally(() => {
      running.delete(lane);
      beginHanded();
      // Claims skip a running lane, so rows that arrived meanwhile are still there.
      if (!running.has(lane)) lookInto(lane);
      schedule();
      if (running.size === 0) onIdle?.();
    });
  }

  function take(rows: readonly OutboxRow[]): void {
    for (const [lane, of] of Map.groupBy(rows, (row) => row.lane)) {
      handed.set(lane, [...(handed.get(lane) ?? []), ...of]);
    }
    beginHanded();
  }

  function beginHanded(): void {
    for (const [lane, rows] of handed) {
      // While closing they start too, because a started lane releases its rows.
      if (running.size >= options.lanesMax && !closing) return;
      if (running.has(lane) || (roomFor(kindOf(lane)) <= 0 && !closing)) continue;
      handed.delete(lane);
      begin(lane, rows);
    }
  }

  /** Reads before it claims: most lanes have no new rows, and a claim needs a write transaction. */
  function lookInto(lane: string): void {
    ended.add(lane);
    if (looking || closing) return;
    looking = true;
    setImmediate(() => void guarded(look));
  }

  async function look(): Promise<void> {
    const lanes = [...ended];
    ended.clear();
    try {
      for (const lane of await lanesWithWork(store, lanes, clock.now())) readyLanes.add(lane, clock.now());
    } catch (error) {
      for (const lane of lanes) readyLanes.add(lane, clock.now());
      throw error;
    } finally {
      looking = false;
      for (const lane of ended) lookInto(lane);
    }
    schedule();
  }

  async function drain(rows: readonly OutboxRow[]): Promise<void> {
    let rest = rows;
    while (rest.length > 0) {
      if (closing) {
        await giveBack(rest);
        return;
      }
      const [first] = rest;
      if (first === undefined) return;
      const left = whyLeft(first);
      if (left !== undefined) {
        await failed(undefined, [first], left);
        rest = rest.slice(1);
        if (unorderedKinds.has(first.kind)) continue;
        await giveBack(rest);
        return;
      }
      const handler = handlers[first.kind];
      const size =
        handler?.batch === true ? rest.findIndex((row) => row.kind !== first.kind || whyLeft(row) !== undefined) : 1;
      const group = size === -1 ? rest : rest.slice(0, size);
      const done = await attempt(handler, group);
      rest = rest.slice(group.length);
      if (!done) {
        await giveBack(rest);
        return;
      }
    }
  }

  /** Returns the reason why this process cannot do the work, or undefined if it can. */
  function whyLeft(row: OutboxRow): LeftWork | undefined {
    const { kind } = row;
    const isRead = options.reads?.(row);
    if (handlers[kind] === undefined) {
      // The payload is readable, so the version is right and another process has the handler.
      if (isRead === true) return new LeftWork("elsewhere", `this one does no work of kind ${kind}`);
      return new LeftWork("newer", `this program does no work of kind ${kind}`);
    }
    if (isRead !== false) return undefined;
    return new LeftWork("newer", `this program cannot read what is to be done of kind ${kind}`);
  }

  /** Returns false if the lane must wait. */
  async function attempt(handler: Handler | undefined, rows: readonly OutboxRow[]): Promise<boolean> {
    const [first] = rows;
    if (first === undefined) return true;
    try {
      await handler?.run(rows, abort.signal);
      outages.over(first.lane);
      return true;
    } catch (error) {
      if (error instanceof LostLease) return false;
      if (abort.signal.aborted) {
        await giveBack(rows);
        return false;
      }
      if (error instanceof PartlyFailed) {
        for (const { row, error: cause } of error.failures) await failed(handler, [row], cause);
        return false;
      }
      await failed(handler, rows, error);
      return false;
    }
  }

  async function failed(handler: Handler | undefined, given: readonly OutboxRow[], error: unknown): Promise<void> {
    const now = clock.now();
    // Tries by processes that could not do the work do not count for one that can.
    const isLeft = error instanceof LeftWork;
    const rows = given.map((row) => (isLeft === wasLeft(row) ? row : { ...row, attempts: 0 }));
    const reason = error instanceof Error ? error.message : "unknown failure";
    const about = { err: error, lane: rows[0]?.lane, kind: rows[0]?.kind, attempts: rows[0]?.attempts };
    const isTold = isLeft ? about.attempts !== 0 : outages.isKnown(options.awayServer?.(error), about.lane);
    log[isTold ? "debug" : "warn"](about, "outbox: work failed");
    // Rounded up, because the database stores whole milliseconds: an earlier timer would find nothing.
    const dueAt = Math.ceil(now + (isLeft ? leftMs : options.backoffMs(rows[0]?.attempts ?? 0, error)));
    const waits = (row: OutboxRow): boolean => handler?.waitsOut?.(row, error, now) === true;
    const isCounted = (row: OutboxRow): boolean => handler?.countsWaiting !== false || !waits(row);
    const isDead = (row: OutboxRow): boolean =>
      row.attempts + 1 >= (handler?.attemptsMax ?? leftAttemptsMax) && !waits(row);
    const putBack = (giveUp: Handler["abandoned"]) =>
      store.write(async (tx) => {
        const after: (() => void)[] = [];
        const dead: OutboxRow[] = [];
        for (const row of rows) {
          const isLast = isDead(row);
          const isOurs = await deferWork(tx, row, { dueAt, error: reason, dead: isLast, now, counts: isCounted(row) });
          if (!isOurs || !isLast) continue;
          dead.push(row);
          if (giveUp !== undefined) after.push(await giveUp(tx, row, reason, now));
        }
        return { after, dead };
      });
    let stored: { readonly after: readonly (() => void)[]; readonly dead: readonly OutboxRow[] };
    try {
      stored = await putBack(handler?.abandoned);
    } catch (failure) {
      if (!rows.some(isDead)) throw failure;
      // A failing `abandoned` must not block the lane for ever.
      log.error(
        { err: failure, lane: rows[0]?.lane, kind: rows[0]?.kind },
        "outbox: failure handler failed, work is a dead letter",
      );
      stored = await putBack(undefined);
    }
    for (const { id, lane, kind } of stored.dead) {
      log.error({ id, lane, kind, reason }, "outbox: work gave up, kept as a dead letter");
    }
    for (const run of stored.after) run();
    arm(dueAt);
  }

  async function giveBack(rows: readonly OutboxRow[]): Promise<void> {
    if (rows.length === 0) return;
    await store.write((tx) =>
      tx
        .updateTable("outbox")
        .set({ lease_id: null, lease_until: null })
        .where(
          "id",
          "in",
          rows.map(({ id }) => id),
        )
        .where("lease_id", "=", processId)
        .execute(),
    );
  }

  return {
    wake,
    offer(lanes, inRush = false) {
      if (closing || failing || (inboundBurst.isOn() && !inRush)) return [];
      const before = [...handed.keys(), ...nextLanes()];
      let room = options.lanesMax - running.size - before.length;
      return lanes.filter((lane) => {
        const kind = kindOf(lane);
        const handler = handlers[kind];
        if (room <= 0 || running.has(lane) || handed.has(lane)) return false;
        if (handler === undefined || (handler.lanesMax !== undefined && !inRush)) return false;
        if (before.filter((other) => kindOf(other) === kind).length >= roomFor(kind)) return false;
        before.push(lane);
        room -= 1;
        return true;
      });
    },
    isBusy: () => [...running].some((lane) => handlers[kindOf(lane)]?.yieldsMs === undefined),
    lease,
    take,
    running: () => new Map([...Map.groupBy(running, kindOf)].map(([kind, lanes]) => [kind, lanes.length])),
    async close(graceMs) {
      closing = true;
      stopTimer();
      stopHeld?.();
      stopPoll();
      stopRenewal();
      beginHanded();
      const idle = new Promise<void>((resolve) => {
        onIdle = resolve;
        if (running.size === 0) resolve();
      });
      const cancelGrace = clock.timer(Math.max(0, graceMs - gracefulAbortMs), () =>
        abort.abort(new Error("the program stops")),
      );
      await Promise.race([idle, new Promise((resolve) => setTimeout(resolve, graceMs).unref())]);
      cancelGrace();
      // Only these lanes: API queries in progress hold leases of this process too, and continue.
      await store.write((tx) => releaseLeases(tx, [processId], [...running, ...handed.keys()]));
    },
  };
}
