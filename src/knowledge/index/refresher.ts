import { sql } from "kysely";
import type { Clock } from "#runtime/clock.ts";
import type { Log } from "#runtime/log.ts";
import type { Reader } from "#database/contract.ts";

/** What is made of the workspaces' documents, and has to follow their changes. */
export interface RefreshedIndex {
  readonly name: string;
  /** Becomes another one with every change of any workspace. */
  state(): Promise<string>;
  /** Of each workspace that there is something to hold of, what becomes another one with every change of it. */
  states(): Promise<ReadonlyMap<string, number>>;
  /** Takes in all that was committed before the call. */
  prepare(workspaceId: string, signal: AbortSignal): Promise<void>;
}

export interface IndexRefresher {
  /** There may be something new: looks at once, and not only after a while. */
  look(): void;
  /** What cannot be brought up to date now, in words; null when nothing is. */
  trouble(): string | null;
  close(): Promise<void>;
}

const everyMs = 2_000;
/** What fails is tried again after this time at most; first after two seconds, then twice as long each time. */
const againMsMax = 60_000;

/** A workspace that could not be brought up to date. */
interface Failing {
  readonly times: number;
  readonly notBefore: number;
}

/**
 * Brings what is made of documents up to date as soon as they change, from the start on, so that no question has to wait
 * for it. Every process does this for itself: it looks at the database, whichever process changed something there.
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
    for (const known of [one.ready, one.failing]) for (const id of known.keys()) if (!states.has(id)) known.delete(id);
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
          notBefore: clock.now() + Math.min(everyMs * 2 ** (times - 1), againMsMax),
        });
        const tell = before === undefined ? log.warn : log.debug;
        tell.call(log, { err: error, workspaceId, times, name: one.each.name }, "index: refresh failed, retrying");
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
    trouble() {
      const names = watched.filter(({ failing }) => failing.size > 0);
      if (names.length === 0) return null;
      const told = names.map(({ each, failing }) => {
        const count = failing.size === 1 ? "one workspace" : `${failing.size} workspaces`;
        return `${each.name} of ${count} cannot be brought up to date`;
      });
      return `${told.join("; ")}: the log tells why`;
    },
    async close() {
      stop.abort(new Error("the program ends"));
      stopTimer();
      await running;
    },
  };
}

/** The index of the words in passages. */
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

/** What passages mean. */
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
