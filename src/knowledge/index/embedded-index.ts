import { rmSync } from "node:fs";
import { Problem } from "#domain/problem.ts";
import type { Log } from "#runtime/log.ts";
import type { IndexCall, IndexResults } from "./thread/index-calls.ts";
import { runCall } from "./thread/index-calls.ts";
import type { StoreReads, WantedDocument } from "./index-changes.ts";
import { batches, planOf, storedVersion, withChunks } from "./index-changes.ts";
import type { IndexFile } from "./file/index-file.ts";
import { isBusy, isDamage } from "./file/file-errors.ts";
import { openIndexFile } from "./file/index-file.ts";
import type { KnowledgeIndex, SearchRequest, SearchResult } from "./contract.ts";
import { createIndexThread } from "./thread/index-thread.ts";
import { untilAborted } from "#runtime/abort.ts";

/** Larger changes are written in a thread, however small the knowledge base is. */
const changedChunksMax = 30;
/** Searches wait for up to this number of new passages, and not at all for more. */
const waitedChunksMax = 2_000;

export interface EmbeddedIndexOptions {
  readonly store: StoreReads;
  /** Path of the index file, or `:memory:`. The file can be deleted: it is rebuilt from the store. */
  readonly path: string;
  readonly log: Log;
  /** Number of passages from which a workspace is searched in a thread. Below it a search is faster than the messages. */
  readonly threadFrom?: number;
  /** How long a search waits for new texts, in milliseconds, before it uses the previous ones. */
  readonly patienceMs?: number;
}

/** One refresh of a workspace's tables to a version of its knowledge base. */
interface RefreshRun {
  readonly view: number;
  /** Resolves when removals and access rules are applied. Texts may still be old. False: another process saw a newer version. */
  readonly begun: Promise<boolean>;
  readonly done: Promise<boolean>;
  /** Resolves when `done` does, or with undefined when searches must not wait any longer. The run continues. */
  readonly patience: Promise<boolean | undefined>;
}

/**
 * Full-text search in an SQLite file next to the database. Each workspace has its own tables, so that word frequencies
 * count per workspace. Before each search the index compares its version with the store and applies the changes of all
 * processes, as far as a search can wait for them. Processes can share the file. A damaged file is rebuilt. Large
 * knowledge bases are searched in one thread and written in another.
 */
export function openEmbeddedIndex(options: EmbeddedIndexOptions): KnowledgeIndex {
  const { store, path, log, threadFrom = 20_000, patienceMs = 5_000 } = options;
  let file = openRepaired(path, log);
  // Two threads: searches must not wait for writes.
  const searching = createIndexThread({ path, log });
  const writing = createIndexThread({ path, log, priority: "background", idleMs: 60_000 });
  const runs = new Map<string, RefreshRun>();
  let rebuilding: Promise<void> | undefined;
  /** Incremented with each rebuild. A failure on an older file must not cause another rebuild. */
  let generation = 0;
  let closed = false;

  async function onFile<T>(work: () => T | Promise<T>): Promise<T> {
    await rebuilding;
    const before = generation;
    try {
      return await work();
    } catch (error) {
      if (!isDamage(error)) throw error;
      if (before === generation) {
        rebuilding ??= rebuild(error).finally(() => (rebuilding = undefined));
        await rebuilding;
      }
      throw new StaleIndex("the index was rebuilt", { cause: error });
    }
  }

  async function rebuild(error: unknown): Promise<void> {
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

  function call<C extends IndexCall>(
    request: C,
    large = false,
    signal?: AbortSignal,
  ): Promise<IndexResults[C["kind"]]> {
    return onFile(() => {
      if (closed) throw new Problem("search_unavailable", "The search index is closed.");
      const workspaceId = request.kind === "search" ? request.request.workspaceId : request.workspaceId;
      // A write here would block the event loop until the thread's write ends.
      const reads = request.kind === "search";
      const inThread = (!reads && writing.started) || large || file.chunkCount(workspaceId) >= threadFrom;
      if (!inThread || path === ":memory:") return runCall(file, request);
      return (reads ? searching : writing).run(request, signal);
    });
  }

  /**
   * Refreshes the file from the store. `whole`: completely; otherwise as far as a search can wait. Returns false when
   * some passages were never indexed.
   */
  async function catchUp(workspaceId: string, signal: AbortSignal | undefined, whole: boolean): Promise<boolean> {
    let refused: number | undefined;
    for (;;) {
      const view = await storedVersion(store, workspaceId);
      if (view === undefined) {
        await call({ kind: "drop", workspaceId });
        return true;
      }
      // The file is newer than the store: the database was restored from a backup, and the index must be rebuilt.
      if (view === refused) await call({ kind: "drop", workspaceId });
      const indexed = await onFile(() => file.version(workspaceId));
      if (indexed === view) return true;
      const running = runs.get(workspaceId);
      const run = running?.view === view ? running : startRun(workspaceId, view);
      if (await untilAborted(run.begun, signal)) {
        const outcome = await untilAborted(whole ? run.done : run.patience, signal);
        // Once a version is complete, each document keeps its previous text until the new one is written.
        if (outcome === undefined) return indexed !== undefined && indexed > 0;
        if (outcome) return true;
      }
      refused = view;
    }
  }

  function startRun(workspaceId: string, view: number): RefreshRun {
    const plan = begin(workspaceId, view);
    const done = plan.then((changed) => (changed === undefined ? false : replaceChanged(workspaceId, view, changed)));
    const limit = timeLimit(patienceMs);
    const patience = Promise.race([
      done,
      limit.over,
      plan.then((changed) => (sizeOf(changed ?? []) > waitedChunksMax ? undefined : done)),
    ]).finally(() => limit.clear());
    const run: RefreshRun = { view, begun: plan.then((changed) => changed !== undefined), done, patience };
    runs.set(workspaceId, run);
    const remove = (): void => {
      if (runs.get(workspaceId) === run) runs.delete(workspaceId);
    };
    // Callers handle the rejection. Without a caller it is ignored: the next search tries again.
    run.begun.catch(() => undefined);
    patience.catch(() => undefined);
    done.then(remove, (error: unknown) => {
      remove();
      if (!closed) log.debug({ err: error, workspaceId }, "index: refresh failed");
    });
    return run;
  }

  /** Returns the documents whose texts must be replaced. Undefined when another process saw a newer version. */
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
    // One transaction per batch, so that other processes need not wait long. The last one stores the version: an
    // interrupted refresh starts again.
    for (const ids of batches(changed)) {
      const changes = await withChunks(store, ids);
      if (!(await call({ kind: "replace", workspaceId, view, changes }, large))) return false;
    }
    return call({ kind: "finish", workspaceId, view });
  }

  async function search({
    signal,
    text: _,
    isEnough: __,
    message: ___,
    ...request
  }: SearchRequest): Promise<SearchResult> {
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
        // A rebuilt file has no data of the workspace.
        if (!(error instanceof StaleIndex)) throw error;
      }
    },
    async close() {
      if (closed) return;
      closed = true;
      // The next process resumes an interrupted refresh.
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

/** Thrown when the file was rebuilt during a call. The caller must start again. */
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
