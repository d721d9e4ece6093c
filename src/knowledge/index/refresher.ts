import { sql } from "kysely";
import type { Clock } from "#runtime/clock.ts";
import type { Log } from "#runtime/log.ts";
import type { Reader } from "#database/contract.ts";

/** An index over the workspaces' documents that must follow their changes. */
export interface RefreshedIndex {
  readonly name: string;
  /** Changes with every change of any workspace. Must be cheap to read. */
  state(): Promise<string>;
  /** The version of each workspace with data. It changes with every change of the workspace. */
  states(): Promise<ReadonlyMap<string, number>>;
  /** Indexes everything committed before the call. */
  prepare(workspaceId: string, signal: AbortSignal): Promise<void>;
}

export interface IndexRefresher {
  /** Checks for changes now instead of at the next interval. */
  look(): void;
  /** Describes which indexes cannot be refreshed, for operators. Null when all can. */
  trouble(): string | null;
  close(): Promise<void>;
}

const everyMs = 2_000;
/** Maximum delay of retries, which double from two seconds. */
const retryMsMax = 60_000;

/** A workspace whose last refresh failed. */
interface Failing {
  readonly times: number;
  readonly notBefore: number;
}

/**
 * Refreshes indexes as soon as documents change, so that no question waits for it. Runs in every process, and polls the
 * database for the changes of all processes.
 */
export function openIndexRefresher({
  indexes,
  clock,
  log,
}: {
  readonly indexes: readonly RefreshedIndex[];
  readonly clock: Clock;
  readonly log: Log;
}): IndexRefresher {
  const stop = new AbortController();
  const watched = indexes.map((each) => ({
    each,
    seen: undefined as string | undefined,
    ready: new Map<string, number>(),
    failing: new Map<string, Failing>(),
  }));
  let running: Promise<void> | undefined;
  let again = false;
  let stopTimer = (): void => undefined;

  async function follow(one: (typeof watched)[number]): Promise<void> {
    const state = await one.each.state();
    if (state === one.seen) return;
    const states = await one.each.states();
    for (const map of [one.ready, one.failing]) for (const id of map.keys()) if (!states.has(id)) map.delete(id);
    let complete = true;
    for (const [workspaceId, wanted] of states) {
      if (one.ready.get(workspaceId) === wanted) continue;
      const before = one.failing.get(workspaceId);
      if (before !== undefined && before.notBefore > clock.now()) {
        complete = false;
        continue;
      }
      try {
        await one.each.prepare(workspaceId, stop.signal);
        one.ready.set(workspaceId, wanted);
        one.failing.delete(workspaceId);
        if (before !== undefined) log.info({ workspaceId, name: one.each.name }, "index: up to date again");
      } catch (error) {
        if (stop.signal.aborted) return;
        complete = false;
        const times = (before?.times ?? 0) + 1;
        one.failing.set(workspaceId, {
          times,
          notBefore: clock.now() + Math.min(everyMs * 2 ** (times - 1), retryMsMax),
        });
        const logFailure = before === undefined ? log.warn : log.debug;
        logFailure.call(
          log,
          { err: error, workspaceId, times, name: one.each.name },
          "index: refresh failed, retrying",
        );
      }
    }
    if (complete) one.seen = state;
  }

  async function round(): Promise<void> {
    for (const one of watched) {
      try {
        if (!stop.signal.aborted) await follow(one);
      } catch (error) {
        if (!stop.signal.aborted) log.debug({ err: error, name: one.each.name }, "index: reading the changes failed");
      }
    }
  }

  function look(): void {
    if (stop.signal.aborted) return;
    again = true;
    running ??= (async () => {
      while (again && !stop.signal.aborted) {
        again = false;
        await round();
      }
    })().finally(() => {
      running = undefined;
      stopTimer();
      if (!stop.signal.aborted) stopTimer = clock.timer(everyMs, look);
    });
  }

  look();
  return {
    look,
    trouble: () => troubleOf(watched),
    async close() {
      stop.abort(new Error("the program ends"));
      stopTimer();
      await running;
    },
  };
}

function troubleOf(
  watched: readonly { readonly each: RefreshedIndex; readonly failing: ReadonlyMap<string, Failing> }[],
): string | null {
  const names = watched.filter(({ failing }) => failing.size > 0);
  if (names.length === 0) return null;
  const descriptions = names.map(({ each, failing }) => {
    const count = failing.size === 1 ? "one workspace" : `${failing.size} workspaces`;
    return `${each.name} of ${count} cannot be brought up to date`;
  });
  return `${descriptions.join("; ")}: the log tells why`;
}

/** Refreshes the full-text index. */
export function refreshedIndex(read: Reader, prepare: RefreshedIndex["prepare"]): RefreshedIndex {
  const workspaces = read.selectFrom("workspaces").where("deleted_at", "is", null).where("knowledge_version", ">", 0);
  return {
    name: "the search index",
    async state() {
      const sums = workspaces.select([sql`count(*)`.as("count"), sql`sum(knowledge_version)`.as("sum")]);
      return JSON.stringify(await sums.executeTakeFirst());
    },
    async states() {
      const rows = await workspaces.select(["id", "knowledge_version as version"]).execute();
      return new Map(rows.map(({ id, version }) => [id, version]));
    },
    prepare,
  };
}

/** Refreshes the vectors. */
export function refreshedVectors(read: Reader, prepare: RefreshedIndex["prepare"]): RefreshedIndex {
  const models = read.selectFrom("vector_models").where("stamp", ">", 0);
  return {
    name: "the comparison of vectors",
    async state() {
      const sums = models.select([sql`count(*)`.as("count"), sql`sum(stamp)`.as("sum")]);
      return JSON.stringify(await sums.executeTakeFirst());
    },
    async states() {
      const rows = await models.select(["workspace_id as id", "stamp"]).execute();
      return new Map(rows.map(({ id, stamp }) => [id, stamp]));
    },
    prepare,
  };
}
