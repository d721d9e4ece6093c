import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { Store } from "#database/contract.ts";
import { prepareRead } from "#database/dialects/prepared.ts";
import type { DocumentChange, IndexedDocument } from "./file/write-documents.ts";

// Reads a workspace's documents from the store page by page, and yields to the event loop between pages.

const documentsAtOnce = 1_000;
const fetchedDocumentsMax = 50;
/** Maximum number of passages per transaction. Other writers wait for one transaction. */
const writtenChunksMax = 300;

export type StoreReads = Pick<Store, "read" | "select">;

export type WantedDocument = IndexedDocument & { readonly chunks: number };

export interface IndexPlan {
  readonly gone: readonly string[];
  readonly audiences: readonly Pick<IndexedDocument, "id" | "audience">[];
  /** Documents whose texts must be replaced. */
  readonly changed: readonly WantedDocument[];
}

/** Reads one page of the indexed documents, starting after an id. */
export type IndexedPages = (after: string, limit: number) => Promise<readonly IndexedDocument[]>;

/** The version of the knowledge base. Undefined when the workspace does not exist. */
export async function storedVersion(store: StoreReads, workspaceId: string): Promise<number | undefined> {
  const [workspace] = await versionOf(store, { workspaceId });
  return workspace?.knowledge_version;
}

const versionOf = prepareRead((db, { workspaceId }: { readonly workspaceId: string }) =>
  db.selectFrom("workspaces").select("knowledge_version").where("id", "=", workspaceId).where("deleted_at", "is", null),
);

/**
 * Compares the store with the index. The store may change between the pages: its version then changes too, and another
 * plan follows. The plan contains every document that existed before the call and still exists.
 */
export async function planOf(
  { read }: Pick<Store, "read">,
  workspaceId: string,
  indexed: IndexedPages,
): Promise<IndexPlan> {
  const wanted = await pages(async (after) =>
    read
      .selectFrom("documents")
      .select(["id", "indexed_version as version", "audience", "chunks"])
      .where("workspace_id", "=", workspaceId)
      .where("indexed_version", ">", 0)
      .where("id", ">", after)
      .orderBy("id")
      .limit(documentsAtOnce)
      .execute(),
  );
  const have = await pages((after) => indexed(after, documentsAtOnce));
  return {
    gone: [...have.keys()].filter((id) => !wanted.has(id)),
    audiences: [...wanted.values()].filter(({ id, audience }) => have.has(id) && have.get(id)?.audience !== audience),
    changed: [...wanted.values()].filter(({ id, version }) => have.get(id)?.version !== version),
  };
}

async function pages<Row extends { readonly id: string }>(
  read: (after: string) => Promise<readonly Row[]>,
): Promise<ReadonlyMap<string, Row>> {
  const all = new Map<string, Row>();
  for (let after = ""; ;) {
    const page = await read(after);
    for (const row of page) all.set(row.id, row);
    const last = page.at(-1);
    if (last === undefined || page.length < documentsAtOnce) return all;
    after = last.id;
    // SQLite answers synchronously, and would block the event loop.
    await yieldToEventLoop();
  }
}

/**
 * Loads documents with their chunks. One statement, so that chunks and version match; both may be newer than the plan.
 * Deleted documents are left out; the next plan removes them from the index.
 */
export async function withChunks({ read }: Pick<Store, "read">, ids: readonly string[]): Promise<DocumentChange[]> {
  const rows = await read
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

export function batches(documents: readonly WantedDocument[]): string[][] {
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
