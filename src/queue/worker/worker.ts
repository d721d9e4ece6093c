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

/** Does one kind of work. It ends its rows itself, in the transaction that stores the result. */
export interface Handler {
  /** True: gets all due rows of a lane at once. False: one after the other. */
  readonly batch: boolean;
  /** Tries before work is given up. */
  readonly attemptsMax: number;
  /** Lanes of this kind, whose names begin with it, that may run at the same time; absent: as many as there is room for. */
  readonly lanesMax?: number;
  /** While other work waits it gives way, for this long at most: what it does is done once for all that comes meanwhile. */
  readonly yieldsMs?: number;
  run(rows: readonly OutboxRow[], signal: AbortSignal): Promise<void>;
  /** True: this failure is waited out, and the work not given up for it, however often it was tried. */
  waitsOut?(row: OutboxRow, error: unknown, now: number): boolean;
  /** False: tries that are waited out do not count towards `attemptsMax`. Default: they do. */
  readonly countsWaiting?: false;
  /** Stores what giving up means; the row itself stays as a dead letter. What it returns is called when that is durable. */
  abandoned?(tx: Tx, row: OutboxRow, reason: string, now: number): Promise<() => void>;
}

export interface WorkerOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  /** Names this process in leases. */
  readonly processId: string;
  readonly handlers: Readonly<Record<string, Handler | undefined>>;
  /** Whether this version knows what the row says; absent: it does. What it does not is left to a newer one. */
  readonly reads?: (row: OutboxRow) => boolean;
  /** Lanes that may run at the same time. */
  readonly lanesMax: number;
  /** Milliseconds to wait after a failed try, by how often it was tried. */
  readonly backoffMs: (attempts: number, error: unknown) => number;
  /** The server of ours that a failure tells to be away. Each of its outages is told once, and once that it is over. */
  readonly awayServer?: (error: unknown) => string | undefined;
  /** While it is on, no lane is begun that has not waited for long: what is stored already waits for nobody's answer. */
  readonly inboundBurst: InboundBurst;
}

export interface Worker {
  /** These lanes may have work, due at this time. */
  wake(lane: string, dueAt: number): void;
  /** Those of these lanes that can be begun at once: what was woken before them is not passed over, unless by a rush. */
  offer(lanes: readonly string[], inRush?: boolean): readonly string[];
  /** Whether work runs that does not give way itself. */
  isBusy(): boolean;
  /** Under which work is taken for {@link take}; another each time, for one transaction. */
  lease(): { readonly id: string; readonly until: number };
  /** Does rows of lanes that were offered. */
  take(rows: readonly OutboxRow[]): void;
  /** Lanes that run now, by kind. */
  running(): ReadonlyMap<string, number>;
  /** Lets running work end, at most this long, and gives back what was not begun. */
  close(graceMs: number): Promise<void>;
}

const leaseMs = 15_000;
const pollMs = 1_000;
const gracefulAbortMs = 500;
/** How long a rush may hold up a lane. */
const heldMs = 2_000;
/**
 * Work of a newer version may be there while an older one still runs: it is left to that one for more than two hours. Each
 * time it waits for this long only: who can do it must wait, too, and it may be a customer's question.
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
 * Whether a process could not do it when it was tried last, of whatever version that was. This is read off what the database
 * holds, so those beginnings stay as they are.
 */
const wasLeft = ({ last_error: error }: OutboxRow): boolean =>
  error !== null && Object.values(leftBecause).some((because) => error.startsWith(because));

/** Drains the lanes of the outbox. The database is the queue; to be woken only spares the wait for the next poll. */
export function openWorker(options: WorkerOptions): Worker {
  const { store, clock, log, processId, handlers, inboundBurst } = options;
  const abort = new AbortController();
  // A clock that is put back, or far ahead, holds up nothing.
  const isYounger = (since: number, ms: number): boolean => Math.abs(clock.now() - since) < ms;
  const readyLanes = createReadyLanes((since, kind, alone) => {
    const { yieldsMs = 0 } = handlers[kind] ?? {};
    return (inboundBurst.isOn() && isYounger(since, heldMs)) || (!alone && isYounger(since, yieldsMs));
  });
  let stopHeld: (() => void) | undefined;
  const running = new Set<string>();
  /** What is taken and not begun, by its lane. */
  const handed = new Map<string, readonly OutboxRow[]>();
  /** Lanes that have run, and may have got more meanwhile. */
  const ended = new Set<string>();
  let looking = false;
  let closing = false;
  let claiming = false;
  let scheduled = false;
  let stopTimer: () => void = () => undefined;
  let timerAt = Number.POSITIVE_INFINITY;
  /** Until when the newest lease is. */
  let leasedUntil = 0;
  let onIdle: (() => void) | undefined;
  const outages = createOutages(clock, log);
  let failing = false;

  const stopPoll = repeat(pollMs, poll);
  const stopRenewal = repeat(leaseMs / 3, async () => {
    // Only of what runs: rows whose failure could not be stored are free again when their lease ends.
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

  /** A database that is away is a state to wait out, told once, not an end of the worker. */
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
    // What has no room now would only hide what has.
    for (const lane of await dueLanes(store.read, now, { except: fullKinds(), limit: 500 }))
      readyLanes.add(lane, clock.now());
    schedule();
    const due = await nextDue(store.read, now);
    if (due !== null) arm(due);
  }

  /** Timers are to fire on time, not at the next poll. */
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
    // A clock that was put back must not leave leases behind that end some time in the future.
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
    // Gathers what one turn of the event loop has woken into one claim.
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

  /** The wanted lanes that there is room for. */
  const nextLanes = (): string[] =>
    readyLanes.next(options.lanesMax - running.size, roomFor, (lane) => running.has(lane));

  /** Looks again when the first of those that a rush holds up has waited long enough. */
  function armHeld(): void {
    if (stopHeld !== undefined || !inboundBurst.isOn()) return;
    // What has waited for longer waits for room, and may do so for long yet.
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
      // What came in meanwhile was passed over while the lane was ours.
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
      // At the end they are begun to be given back.
      if (running.size >= options.lanesMax && !closing) return;
      if (running.has(lane) || (roomFor(kindOf(lane)) <= 0 && !closing)) continue;
      handed.delete(lane);
      begin(lane, rows);
    }
  }

  /** Looks without taking a turn at writing: mostly there is nothing. */
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

  /** Why this process cannot do it; undefined where it can. */
  function whyLeft(row: OutboxRow): LeftWork | undefined {
    const { kind } = row;
    const isRead = options.reads?.(row);
    if (handlers[kind] === undefined) {
      // What it can read is of its own version.
      if (isRead === true) return new LeftWork("elsewhere", `this one does no work of kind ${kind}`);
      return new LeftWork("newer", `this program does no work of kind ${kind}`);
    }
    if (isRead !== false) return undefined;
    return new LeftWork("newer", `this program cannot read what is to be done of kind ${kind}`);
  }

  /** False when the lane has to wait. */
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
    // Tries of those that could not read it do not count for the one that can.
    const isLeft = error instanceof LeftWork;
    const rows = given.map((row) => (isLeft === wasLeft(row) ? row : { ...row, attempts: 0 }));
    const reason = error instanceof Error ? error.message : "unknown failure";
    const about = { err: error, lane: rows[0]?.lane, kind: rows[0]?.kind, attempts: rows[0]?.attempts };
    const isTold = isLeft ? about.attempts !== 0 : outages.isKnown(options.awayServer?.(error), about.lane);
    log[isTold ? "debug" : "warn"](about, "outbox: work failed");
    // Whole milliseconds, as they are stored: a timer for a fraction before them would look too early, and find nothing.
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
      // What cannot even be given up properly must not hold its lane for ever.
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
      // Of what runs still. Questions that are answered for a client have leases of this process too, and go on.
      await store.write((tx) => releaseLeases(tx, [processId], [...running, ...handed.keys()]));
    },
  };
}
