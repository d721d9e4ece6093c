import { rmSync } from "node:fs";
import { Problem } from "#domain/problem.ts";
import type { Log } from "#runtime/log.ts";
import type { IndexCall, IndexResults } from "./index-calls.ts";
import { perform } from "./index-calls.ts";
import type { StoreReads, WantedDocument } from "./index-changes.ts";
import { batches, planOf, storedVersion, withChunks } from "./index-changes.ts";
import type { IndexFile } from "./index-file.ts";
import { isBusy, isDamage, openIndexFile } from "./index-file.ts";
import type { KnowledgeIndex, SearchRequest, SearchResult } from "./contract.ts";
import { createIndexThread } from "./index-thread.ts";
import { untilAborted } from "#runtime/abort.ts";

/** More new passages than these are written off the event loop, however small the knowledge base is so far. */
const changedChunksMax = 30;
/** A question waits for so many new passages, and not at all for more. */
const waitedChunksMax = 2_000;

export interface EmbeddedIndexOptions {
  readonly store: StoreReads;
  /** A file of its own, or `:memory:`. It holds nothing that cannot be made again from the store. */
  readonly path: string;
  readonly log: Log;
  /** Workspaces with so many passages are searched in a thread of its own; below, a look takes less than the way there. */
  readonly threadFrom?: number;
  /** So long a question waits for new texts of documents; then it is answered from the older ones. */
  readonly patienceMs?: number;
}

/** One bringing-up of a workspace's tables to a version of its knowledge base. */
interface Run {
  readonly view: number;
  /** What is gone is gone, and who may see what holds; the texts may be older. False: another process sees newer. */
  readonly begun: Promise<boolean>;
  readonly done: Promise<boolean>;
  /** As far as questions wait for it; undefined: no longer, though it goes on. */
  readonly patience: Promise<boolean | undefined>;
}

/**
 * Full text search in an SQLite file beside the database. Each workspace has tables of its own, so how rare a word is
 * counts within the workspace alone. Before each search the index compares one number with the store and catches up
 * with what changed, in whichever process, as far as a question can wait for it; several processes can share the file. A
 * damaged file is made anew. Large knowledge bases are searched in a thread and written in another.
 */
export function openEmbeddedIndex(options: EmbeddedIndexOptions): KnowledgeIndex {
  const { store, path, log, threadFrom = 20_000, patienceMs = 5_000 } = options;
  let file = openRepaired(path, log);
  // Two, so that no question waits for what is being written.
  const searching = createIndexThread({ path, log });
  const writing = createIndexThread({ path, log, priority: "background", idleMs: 60_000 });
  const runs = new Map<string, Run>();
  let remaking: Promise<void> | undefined;
  /** Which file it is: a failure of one that was replaced meanwhile is no reason to replace it again. */
  let generation = 0;
  let closed = false;

  async function onFile<T>(work: () => T | Promise<T>): Promise<T> {
    await remaking;
    const before = generation;
    try {
      return await work();
    } catch (error) {
      if (!isDamage(error)) throw error;
      if (before === generation) {
        remaking ??= remake(error).finally(() => (remaking = undefined));
        await remaking;
      }
      throw new StaleIndex("the index was made anew", { cause: error });
    }
  }

  async function remake(error: unknown): Promise<void> {
    log.warn({ err: error, path }, "index: file damaged, rebuilding");
    await stopThreads();
    file.close();
    removeFile(path);
    file = openRepaired(path, log);
    generation += 1;
  }

  async function stopThreads(): Promise<void> {
    await Promise.all([searching.stop(), writing.stop()]);
  }

  function call<C extends IndexCall>(asked: C, large = false, signal?: AbortSignal): Promise<IndexResults[C["kind"]]> {
    return onFile(() => {
      if (closed) throw new Problem("search_unavailable", "The search index is closed.");
      const workspaceId = asked.kind === "search" ? asked.request.workspaceId : asked.workspaceId;
      // One writer at a time: here it would wait for the thread's, and the whole process with it.
      const reads = asked.kind === "search";
      const apart = (!reads && writing.started) || large || file.chunkCount(workspaceId) >= threadFrom;
      if (!apart || path === ":memory:") return perform(file, asked);
      return (reads ? searching : writing).run(asked, signal);
    });
  }

  /**
   * Brings the file up to the store. `whole`: all of it; otherwise as far as a question waits for it. False: there are
   * passages that it has never had.
   */
  async function catchUp(workspaceId: string, signal: AbortSignal | undefined, whole: boolean): Promise<boolean> {
    let refused: number | undefined;
    for (;;) {
      const view = await storedVersion(store, workspaceId);
      if (view === undefined) {
        await call({ kind: "drop", workspaceId });
        return true;
      }
      // Nobody has a newer version than the store: it is a copy of an older day, and the file is of no use for it.
      if (view === refused) await call({ kind: "drop", workspaceId });
      const known = await onFile(() => file.version(workspaceId));
      if (known === view) return true;
      const running = runs.get(workspaceId);
      const run = running?.view === view ? running : startRun(workspaceId, view);
      if (await untilAborted(run.begun, signal)) {
        const outcome = await untilAborted(whole ? run.done : run.patience, signal);
        // Where all texts were there once, each is there in its older form till the newer one is. Before the first
        // version there was none.
        if (outcome === undefined) return known !== undefined && known > 0;
        if (outcome) return true;
      }
      refused = view;
    }
  }

  function startRun(workspaceId: string, view: number): Run {
    const plan = begin(workspaceId, view);
    const done = plan.then((changed) => (changed === undefined ? false : replaceChanged(workspaceId, view, changed)));
    const limit = timeLimit(patienceMs);
    const patience = Promise.race([
      done,
      limit.over,
      plan.then((changed) => (sizeOf(changed ?? []) > waitedChunksMax ? undefined : done)),
    ]).finally(() => limit.clear());
    const run: Run = { view, begun: plan.then((changed) => changed !== undefined), done, patience };
    runs.set(workspaceId, run);
    const forget = (): void => {
      if (runs.get(workspaceId) === run) runs.delete(workspaceId);
    };
    // Whoever waits for it is told; where nobody does any more, the next search comes upon the same.
    run.begun.catch(() => undefined);
    patience.catch(() => undefined);
    done.then(forget, (error: unknown) => {
      forget();
      if (!closed) log.debug({ err: error, workspaceId }, "index: refresh failed");
    });
    return run;
  }

  /** The documents whose texts are to be replaced; undefined where another process sees newer ones. */
  async function begin(workspaceId: string, view: number): Promise<readonly WantedDocument[] | undefined> {
    const { gone, audiences, changed } = await planOf(store, workspaceId, (after, limit) =>
      onFile(() => file.documents(workspaceId, after, limit)),
    );
    return (await call({ kind: "begin", workspaceId, view, gone, audiences })) ? changed : undefined;
  }

  async function replaceChanged(
    workspaceId: string,
    view: number,
    changed: readonly WantedDocument[],
  ): Promise<boolean> {
    const large = sizeOf(changed) > changedChunksMax;
    // In several transactions, so that no other process waits long for a large knowledge base; the version is noted
    // with the last, so what is cut short is taken up again.
    for (const ids of batches(changed)) {
      const changes = await withChunks(store, ids);
      if (!(await call({ kind: "replace", workspaceId, view, changes }, large))) return false;
    }
    return call({ kind: "finish", workspaceId, view });
  }

  async function search({ signal, text: _, message: __, ...request }: SearchRequest): Promise<SearchResult> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        signal?.throwIfAborted();
        const complete = await catchUp(request.workspaceId, signal, false);
        const result = await call({ kind: "search", request }, false, signal);
        return complete ? result : { ...result, partial: true };
      } catch (error) {
        signal?.throwIfAborted();
        if (error instanceof StaleIndex && attempt < 3) continue;
        if (error instanceof StaleIndex || isBusy(error)) {
          throw new Problem("search_unavailable", "The search index cannot be read now.", {
            cause: error,
          });
        }
        throw error;
      }
    }
  }

  return {
    search,
    async prepare(workspaceId, signal) {
      for (let attempt = 1; ; attempt += 1) {
        try {
          await catchUp(workspaceId, signal, true);
          return;
        } catch (error) {
          if (!(error instanceof StaleIndex) || attempt === 3) throw error;
        }
      }
    },
    async drop(workspaceId) {
      try {
        await call({ kind: "drop", workspaceId });
      } catch (error) {
        // A file that was made anew holds nothing of it.
        if (!(error instanceof StaleIndex)) throw error;
      }
    },
    async close() {
      if (closed) return;
      closed = true;
      // What is being written is taken up again by the next process.
      await stopThreads();
      await Promise.allSettled([...runs.values()].map(({ done }) => done));
      file.close();
    },
  };
}

const sizeOf = (documents: readonly WantedDocument[]): number => documents.reduce((sum, each) => sum + each.chunks, 0);

function timeLimit(ms: number): { readonly over: Promise<undefined>; clear(): void } {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => resolve(undefined), ms);
  return { over: promise, clear: () => clearTimeout(timer) };
}

/** The file was replaced under the work in hand, which starts over. */
class StaleIndex extends Error {}

function removeFile(path: string): void {
  if (path !== ":memory:") for (const end of ["", "-wal", "-shm"]) rmSync(`${path}${end}`, { force: true });
}

function openRepaired(path: string, log: Log): IndexFile {
  try {
    return openIndexFile(path);
  } catch (error) {
    if (!isDamage(error)) throw error;
    log.warn({ err: error, path }, "index: opening failed, rebuilding");
    removeFile(path);
    return openIndexFile(path);
  }
}
