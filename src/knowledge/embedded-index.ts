import { rmSync } from "node:fs";
import { Problem } from "#domain/problem.ts";
import type { Log, Store } from "#engine/ports.ts";
import type { IndexCall, IndexResults } from "./index-calls.ts";
import { perform } from "./index-calls.ts";
import type { DocumentChange, IndexedDocument, IndexFile } from "./index-file.ts";
import { isBusy, isDamage, openIndexFile } from "./index-file.ts";
import type { KnowledgeIndex, SearchRequest, SearchResult } from "./index-port.ts";
import { createIndexThread } from "./index-thread.ts";
import { untilAborted } from "#domain/until-aborted.ts";

const fetchedDocumentsMax = 50;
/** Passages that are written at once: what waits for the file meanwhile waits no longer than these take. */
const writtenChunksMax = 300;
/** More new passages than these are written off the event loop, however small the knowledge base is so far. */
const changedChunksMax = 500;

export interface EmbeddedIndexOptions {
  readonly store: Pick<Store, "read">;
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
}

/**
 * Full text search in an SQLite file beside the database. Each workspace has tables of its own, so how rare a word is
 * counts within the workspace alone. Before each search the index compares one number with the store and catches up
 * with what changed, in whichever process; several processes can share the file. A damaged file is made anew. Large
 * knowledge bases are searched and written in a thread.
 */
export function openEmbeddedIndex(options: EmbeddedIndexOptions): KnowledgeIndex {
  const { store, path, log, threadFrom = 20_000, patienceMs = 3_000 } = options;
  let file = openRepaired(path, log);
  const thread = createIndexThread({ path, log });
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
    log.warn({ err: error, path }, "the search index is damaged and is made anew");
    await thread.stop();
    file.close();
    removeFile(path);
    file = openRepaired(path, log);
    generation += 1;
  }

  function call<C extends IndexCall>(asked: C, large = false, signal?: AbortSignal): Promise<IndexResults[C["kind"]]> {
    return onFile(() => {
      if (closed) throw new Problem("search_unavailable", "The search index is closed.");
      const workspaceId = asked.kind === "search" ? asked.request.workspaceId : asked.workspaceId;
      // One writer at a time: here it would wait for the thread's, and the whole process with it.
      const apart = (asked.kind !== "search" && thread.started) || large || file.chunkCount(workspaceId) >= threadFrom;
      return apart && path !== ":memory:" ? thread.run(asked, signal) : perform(file, asked);
    });
  }

  async function storedVersion(workspaceId: string): Promise<number | undefined> {
    const workspace = await store.read
      .selectFrom("workspaces")
      .select("knowledge_version")
      .where("id", "=", workspaceId)
      .where("deleted_at", "is", null)
      .executeTakeFirst();
    return workspace?.knowledge_version;
  }

  /** False: there is no such workspace. */
  async function catchUp(workspaceId: string, signal: AbortSignal | undefined): Promise<boolean> {
    let refused: number | undefined;
    for (;;) {
      const view = await storedVersion(workspaceId);
      if (view === undefined) {
        await call({ kind: "drop", workspaceId });
        return false;
      }
      // Nobody has a newer version than the store: it is a copy of an older day, and the file is of no use for it.
      if (view === refused) await call({ kind: "drop", workspaceId });
      const known = await onFile(() => file.version(workspaceId));
      if (known === view) return true;
      const running = runs.get(workspaceId);
      const run = running?.view === view ? running : startRun(workspaceId, view);
      if (await untilAborted(run.begun, signal)) {
        // Where all texts were there once, each is there in its older form till the newer one is.
        const patience = known !== undefined && known >= 0 ? timeLimit(patienceMs) : undefined;
        const end = patience === undefined ? run.done : Promise.race([run.done, patience.over]);
        const outcome = await untilAborted(end, signal).finally(() => patience?.clear());
        if (outcome !== false) return true;
      }
      refused = view;
    }
  }

  function startRun(workspaceId: string, view: number): Run {
    const plan = begin(workspaceId, view);
    const done = plan.then((changed) => (changed === undefined ? false : replaceChanged(workspaceId, view, changed)));
    const run: Run = { view, begun: plan.then((changed) => changed !== undefined), done };
    runs.set(workspaceId, run);
    const forget = (): void => {
      if (runs.get(workspaceId) === run) runs.delete(workspaceId);
    };
    // Whoever waits for it is told; where nobody does any more, the next search comes upon the same.
    run.begun.catch(() => undefined);
    done.then(forget, (error: unknown) => {
      forget();
      if (!closed) log.debug({ err: error, workspaceId }, "bringing the search index up to date failed");
    });
    return run;
  }

  /** The documents whose texts are to be replaced; undefined where another process sees newer ones. */
  async function begin(
    workspaceId: string,
    view: number,
  ): Promise<(IndexedDocument & { chunks: number })[] | undefined> {
    const wanted = await store.read
      .selectFrom("documents")
      .select(["id", "indexed_version as version", "audience", "chunks"])
      .where("workspace_id", "=", workspaceId)
      .where("indexed_version", ">", 0)
      .execute();
    const have = new Map((await onFile(() => file.documents(workspaceId))).map((each) => [each.id, each]));
    const present = new Set(wanted.map((each) => each.id));
    const gone = [...have.keys()].filter((id) => !present.has(id));
    const audiences = wanted.filter(({ id, audience }) => have.has(id) && have.get(id)?.audience !== audience);
    const gates = audiences.map(({ id, audience }) => ({ id, audience }));
    if (!(await call({ kind: "begin", workspaceId, view, gone, audiences: gates }))) return undefined;
    return wanted.filter((each) => have.get(each.id)?.version !== each.version);
  }

  async function replaceChanged(
    workspaceId: string,
    view: number,
    changed: readonly (IndexedDocument & { readonly chunks: number })[],
  ): Promise<boolean> {
    const large = changed.reduce((sum, each) => sum + each.chunks, 0) > changedChunksMax;
    // In several transactions, so that no other process waits long for a large knowledge base; the version is noted
    // with the last, so what is cut short is taken up again.
    for (const ids of batches(changed)) {
      const changes = await withChunks(ids);
      if (!(await call({ kind: "replace", workspaceId, view, changes }, large))) return false;
    }
    return call({ kind: "finish", workspaceId, view });
  }

  /**
   * Read in one statement, so that the chunks are those of the version: they may be newer than when the run began. A
   * document that is gone is left out, and stays in the index till the run that knows of it.
   */
  async function withChunks(ids: readonly string[]): Promise<DocumentChange[]> {
    const rows = await store.read
      .selectFrom("documents")
      .leftJoin("chunks", (join) =>
        join.onRef("chunks.document_id", "=", "documents.id").onRef("chunks.version", "=", "documents.indexed_version"),
      )
      .select(["documents.id as documentId", "documents.indexed_version as version", "documents.audience"])
      .select(["chunks.id", "chunks.position", "chunks.title", "chunks.text", "chunks.url"])
      .where("documents.id", "in", ids)
      .where("documents.indexed_version", ">", 0)
      .execute();
    const changes = new Map<string, DocumentChange & { readonly chunks: DocumentChange["chunks"][number][] }>();
    for (const { documentId, version, audience, id, position, title, text, url } of rows) {
      const change = changes.get(documentId) ?? { id: documentId, version, audience, chunks: [] };
      changes.set(documentId, change);
      if (id !== null && position !== null && title !== null && text !== null)
        change.chunks.push({ id, position, title, text, url });
    }
    return [...changes.values()];
  }

  async function search({ signal, ...request }: SearchRequest): Promise<SearchResult> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        signal?.throwIfAborted();
        await catchUp(request.workspaceId, signal);
        return await call({ kind: "search", request }, false, signal);
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
      await thread.stop();
      await Promise.allSettled([...runs.values()].map(({ done }) => done));
      file.close();
    },
  };
}

function batches(documents: readonly (IndexedDocument & { readonly chunks: number })[]): string[][] {
  const all: string[][] = [];
  let chunks = 0;
  for (const each of documents) {
    const last = all.at(-1);
    chunks += each.chunks;
    if (last !== undefined && last.length < fetchedDocumentsMax && chunks <= writtenChunksMax) last.push(each.id);
    else {
      all.push([each.id]);
      chunks = each.chunks;
    }
  }
  return all;
}

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
    log.warn({ err: error, path }, "the search index cannot be opened and is made anew");
    removeFile(path);
    return openIndexFile(path);
  }
}
