import { rmSync } from "node:fs";
import { Problem } from "#domain/problem.ts";
import type { Log, Store } from "#engine/ports.ts";
import type { DocumentChange, IndexedDocument, IndexFile } from "./index-file.ts";
import { isBusy, isDamage, openIndexFile } from "./index-file.ts";
import type { KnowledgeIndex, SearchRequest, SearchResult } from "./index-port.ts";

const fetchedDocumentsMax = 50;

export interface EmbeddedIndexOptions {
  readonly store: Pick<Store, "read">;
  /** A file of its own, or `:memory:`. It holds nothing that cannot be made again from the store. */
  readonly path: string;
  readonly log: Log;
}

/**
 * Full text search in an SQLite file beside the database. Each workspace has tables of its own, so how rare a word is
 * counts within the workspace alone. Before each search the index compares one number with the store and catches up
 * with what changed, in whichever process; several processes can share the file. A damaged file is made anew.
 */
export function openEmbeddedIndex(options: EmbeddedIndexOptions): KnowledgeIndex {
  const { store, path, log } = options;
  let file = openRepaired(path, log);
  /** One catch-up at a time in this process: the second to come waits and finds nothing left to do. */
  const catchingUp = new Map<string, Promise<void>>();
  let closed = false;

  function repaired<T>(work: (current: IndexFile) => T): T {
    try {
      return work(file);
    } catch (error) {
      if (!isDamage(error)) throw error;
      log.warn({ err: error, path }, "the search index is damaged and is made anew");
      file.close();
      removeFile(path);
      file = openRepaired(path, log);
      throw new StaleIndex("the index was made anew", { cause: error });
    }
  }

  async function catchUp(workspaceId: string): Promise<void> {
    const workspace = await store.read
      .selectFrom("workspaces")
      .select("knowledge_version")
      .where("id", "=", workspaceId)
      .where("deleted_at", "is", null)
      .executeTakeFirst();
    if (workspace === undefined) {
      repaired((current) => current.drop(workspaceId));
      return;
    }
    const known = repaired((current) => current.version(workspaceId));
    if (known === workspace.knowledge_version) return;
    const running = catchingUp.get(workspaceId);
    if (running !== undefined) {
      await running;
      return catchUp(workspaceId);
    }
    const work = replaceChanged(workspaceId, workspace.knowledge_version);
    catchingUp.set(workspaceId, work);
    try {
      await work;
    } finally {
      catchingUp.delete(workspaceId);
    }
  }

  async function replaceChanged(workspaceId: string, version: number): Promise<void> {
    const wanted: IndexedDocument[] = await store.read
      .selectFrom("documents")
      .select(["id", "indexed_version as version", "audience"])
      .where("workspace_id", "=", workspaceId)
      .where("indexed_version", ">", 0)
      .execute();
    const have = new Map(repaired((current) => current.documents(workspaceId)).map((each) => [each.id, each]));
    const changed = wanted.filter((each) => {
      const old = have.get(each.id);
      return old?.version !== each.version || old.audience !== each.audience;
    });
    const present = new Set(wanted.map((each) => each.id));
    const gone = [...have.keys()].filter((id) => !present.has(id));
    // In several transactions, so that no other process waits long for a large knowledge base; the version is noted
    // with the last, so what is cut short is taken up again.
    for (let start = 0; start < changed.length; start += fetchedDocumentsMax) {
      const changes = await withChunks(changed.slice(start, start + fetchedDocumentsMax));
      repaired((current) => current.replace(workspaceId, changes));
    }
    repaired((current) => current.finish(workspaceId, gone, version));
  }

  async function withChunks(documents: readonly IndexedDocument[]): Promise<DocumentChange[]> {
    const rows = await store.read
      .selectFrom("chunks")
      .select(["id", "document_id", "version", "position", "title", "text", "url"])
      .where(
        "document_id",
        "in",
        documents.map((each) => each.id),
      )
      .execute();
    // Another process can have replaced the chunks since the documents were read: then this version has none, and
    // the workspace's version, which has risen with it, brings the next search here again.
    return documents.map((document) => ({
      ...document,
      chunks: rows.filter((row) => row.document_id === document.id && row.version === document.version),
    }));
  }

  async function search(request: SearchRequest): Promise<SearchResult> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        await catchUp(request.workspaceId);
        return repaired((current) => current.search(request));
      } catch (error) {
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
        repaired((current) => current.drop(workspaceId));
      } catch (error) {
        // A file that was made anew holds nothing of it.
        if (!(error instanceof StaleIndex)) throw error;
      }
    },
    async close() {
      if (closed) return;
      closed = true;
      await Promise.allSettled(catchingUp.values());
      file.close();
    },
  };
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
