import type { Store } from "#database/contract.ts";
import { deferWork } from "#database/queries/outbox.ts";
import type { Work, WorkDeclaration } from "#database/work.ts";
import type { Clock } from "#runtime/clock.ts";
import type { Log } from "#runtime/log.ts";
import type { WorkTable } from "#queue/work-table.ts";
import type { Outages } from "./outages.ts";
import { LeftWork, unconcluded, wasLeft } from "./given-up.ts";

/**
 * During an upgrade the outbox can hold rows of a newer version. They are left to it for more than two hours. The delay is
 * short, because it also delays the process that can do the work.
 */
const leftMs = 10_000;
const leftAttemptsMax = 750;

export interface FailureOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly outages: Outages;
  readonly works: Pick<WorkTable, "unordered">;
  /** Milliseconds to wait after a failed try. */
  readonly backoffMs: (attempts: number, error: unknown) => number;
  /** Names the server whose absence caused the failure. Each outage is logged once, and its end once. */
  readonly awayServer?: (error: unknown) => string | undefined;
}

/**
 * Stores a failed try of these rows, which are retried or become dead letters. `declaration`: undefined for rows that this
 * process cannot run. Resolves with the time of the retry.
 */
export type StoreFailure = (
  declaration: WorkDeclaration | undefined,
  rows: readonly Work[],
  error: unknown,
) => Promise<number>;

export function createStoreFailure({
  store,
  clock,
  log,
  outages,
  works,
  backoffMs,
  awayServer,
}: FailureOptions): StoreFailure {
  return async (declaration, given, error) => {
    const now = clock.now();
    const isLeft = error instanceof LeftWork;
    // Tries by processes that could not do the work do not count for one that can.
    const rows = given.map((row) => (isLeft === wasLeft(row) ? row : { ...row, attempts: 0 }));
    const [first] = rows;
    const about = { err: error, lane: first?.lane, kind: first?.kind, attempts: first?.attempts };
    const isLogged = isLeft ? about.attempts !== 0 : outages.isKnown(awayServer?.(error), about.lane);
    log[isLogged ? "debug" : "warn"](about, "outbox: work failed");
    // Rounded up, because the database stores whole milliseconds: an earlier timer would find nothing.
    const dueAt = Math.ceil(now + (isLeft ? leftMs : backoffMs(first?.attempts ?? 0, error)));
    const failure = { error, reason: error instanceof Error ? error.message : "unknown failure", dueAt, now };
    const outcome = await deferOrGiveUp({ store, log, works }, declaration, rows, failure);
    for (const { id, lane, kind } of outcome.dead) {
      log.error({ id, lane, kind, reason: failure.reason }, "outbox: work gave up, kept as a dead letter");
    }
    for (const run of outcome.after) run();
    return dueAt;
  };
}

interface Failure {
  readonly error: unknown;
  readonly reason: string;
  readonly dueAt: number;
  readonly now: number;
}

interface StoredFailure {
  /** Callbacks of `onAbandon`. */
  readonly after: readonly (() => void)[];
  readonly dead: readonly Work[];
}

async function deferOrGiveUp(
  { store, log, works }: Pick<FailureOptions, "store" | "log" | "works">,
  declaration: WorkDeclaration | undefined,
  rows: readonly Work[],
  { error, reason, dueAt, now }: Failure,
): Promise<StoredFailure> {
  const waits = (row: Work): boolean => declaration?.waitsOut?.(row, error, now) === true;
  const counts = (row: Work): boolean => declaration?.countsWaiting !== false || !waits(row);
  const isDead = (row: Work): boolean =>
    row.attempts + 1 >= (declaration?.attemptsMax ?? leftAttemptsMax) && !waits(row);
  const write = (onAbandon: WorkDeclaration["onAbandon"], because: string): Promise<StoredFailure> =>
    store.write(async (tx) => {
      const after: (() => void)[] = [];
      const dead: Work[] = [];
      for (const row of rows) {
        const isLast = isDead(row);
        const unordered = works.unordered.has(row.kind);
        const outcome = { dueAt, error: isLast ? because : reason, dead: isLast, unordered, now, counts: counts(row) };
        const isOurs = await deferWork(tx, row, outcome);
        if (!isOurs || !isLast) continue;
        dead.push(row);
        if (onAbandon !== undefined) after.push(await onAbandon(tx, row, reason, now));
      }
      return { after, dead };
    });
  try {
    return await write(declaration?.onAbandon, reason);
  } catch (err) {
    if (!rows.some(isDead)) throw err;
    // A failing `onAbandon` must not block the lane for ever.
    const about = { err, lane: rows[0]?.lane, kind: rows[0]?.kind };
    log.error(about, "outbox: failure handler failed, work is a dead letter");
    return write(undefined, unconcluded(reason));
  }
}
