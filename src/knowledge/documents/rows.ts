import { createHash } from "node:crypto";
import { newId } from "#domain/ids.ts";
import type { Tx } from "#database/contract.ts";
import { dialectOf } from "#database/dialects/dialect.ts";
import type { DocumentsTable } from "#database/schema/knowledge.ts";
import type { Chunk } from "./chunk.ts";
import { queueKnowledgeWhereOutside } from "#knowledge/index/work.ts";

export type DocumentStatus = DocumentsTable["status"];

/** A document in the form that the API returns. Times are epoch milliseconds. */
export interface Document {
  readonly id: string;
  readonly workspaceId: string;
  readonly source: "crawl" | "upload";
  readonly title: string;
  readonly url: string | null;
  readonly status: DocumentStatus;
  /** Shown to the person who added the document. */
  readonly error: string | null;
  readonly chunks: number;
  readonly pages: number;
  readonly audience: readonly string[];
  readonly createdAt: number;
  readonly indexedAt: number | null;
  /** End of the last crawl of a website; null while a run is active. */
  readonly crawledAt: number | null;
}

const insertedRowsMax = 100;

export function toDocument(row: DocumentsTable): Document {
  const audience: unknown = JSON.parse(row.audience);
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    source: row.source,
    title: row.title,
    url: row.url,
    status: row.status,
    error: row.error,
    chunks: row.chunks,
    pages: row.pages,
    audience: Array.isArray(audience) ? audience.filter((tag) => typeof tag === "string") : [],
    createdAt: row.created_at,
    indexedAt: row.indexed_at,
    crawledAt: row.crawled_at,
  };
}

/** Called in the transaction that ends the indexing of a document. */
export type OnSettled = (tx: Tx, document: Document) => Promise<void>;

/**
 * Called in the transaction of a change by a person, to record it. `title`: the document's, before the change where it
 * changes. `to`: what changed, for people.
 */
export type RecordChange = (
  tx: Tx,
  change: { readonly verb: "added" | "changed" | "removed"; readonly title: string; readonly to?: string },
) => Promise<void>;

export type NewDocumentRow = Pick<
  DocumentsTable,
  "source" | "origin_key" | "content_hash" | "media_type" | "url" | "audience" | "title" | "body_id" | "parent_id"
> &
  Partial<Pick<DocumentsTable, "file_name" | "own_title" | "article">>;

/** Undefined when the workspace has a document of this origin. */
export async function insertDocument(
  tx: Tx,
  fresh: NewDocumentRow & { readonly id: string; readonly workspaceId: string; readonly now: number },
): Promise<DocumentsTable | undefined> {
  const { id, workspaceId, now, ...given } = fresh;
  const row: DocumentsTable = {
    id,
    workspace_id: workspaceId,
    file_name: null,
    own_title: null,
    article: null,
    ...given,
    status: "pending",
    error: null,
    chunks: 0,
    pages: 0,
    indexed_version: 0,
    created_at: now,
    indexed_at: null,
    crawled_at: null,
  };
  const insert = tx.insertInto("documents").values(row);
  // The unique index decides between concurrent inserts; the loser then reads the winner's row.
  const unlessThere =
    dialectOf(tx) === "mysql" ? insert.ignore() : insert.onConflict((conflict) => conflict.doNothing());
  const { numInsertedOrUpdatedRows } = await unlessThere.executeTakeFirst();
  return numInsertedOrUpdatedRows === 1n ? row : undefined;
}

/** Throws where there is no document of this origin. */
export async function documentOfOrigin(tx: Tx, workspaceId: string, originKey: string): Promise<DocumentsTable> {
  const row = await tx
    .selectFrom("documents")
    .selectAll()
    .where("workspace_id", "=", workspaceId)
    .where("origin_key", "=", originKey)
    .executeTakeFirst();
  if (row === undefined) throw new Error("a document of this origin disappeared within one transaction");
  return row;
}

/** A file or a website of the workspace. Leaves out the pages of websites, which are not shown as documents. */
export function findRow(
  db: Pick<Tx, "selectFrom">,
  workspaceId: string,
  documentId: string,
): Promise<DocumentsTable | undefined> {
  return db
    .selectFrom("documents")
    .selectAll()
    .where("id", "=", documentId)
    .where("workspace_id", "=", workspaceId)
    .where("parent_id", "is", null)
    .executeTakeFirst();
}

/** The row, locked until the end of the transaction. */
export async function lockRow(tx: Tx, documentId: string): Promise<DocumentsTable | undefined> {
  const query = tx.selectFrom("documents").selectAll().where("id", "=", documentId);
  const row = await (dialectOf(tx) === "mysql" ? query.forUpdate() : query).executeTakeFirst();
  // MySQL ignores trailing spaces in comparisons.
  return row?.id === documentId ? row : undefined;
}

/** Like {@link lockRow}, and undefined for other workspaces' documents and for pages of websites, which are not shown. */
export async function lockDocument(
  tx: Tx,
  workspaceId: string,
  documentId: string,
): Promise<DocumentsTable | undefined> {
  const row = await lockRow(tx, documentId);
  return row?.workspace_id === workspaceId && row.parent_id === null ? row : undefined;
}

/** The audience of a website applies to all its pages at once. */
export async function changeAudience(
  tx: Tx,
  row: Pick<DocumentsTable, "id" | "workspace_id">,
  audience: string,
  now: number,
): Promise<void> {
  await tx
    .updateTable("documents")
    .set({ audience })
    .where((eb) => eb.or([eb("id", "=", row.id), eb("parent_id", "=", row.id)]))
    .execute();
  await raiseKnowledgeVersion(tx, row.workspace_id, now);
}

/** Replaces the chunks of the previous version. */
export async function replaceChunks(
  tx: Tx,
  document: Pick<DocumentsTable, "id" | "workspace_id" | "url">,
  version: number,
  chunks: readonly Chunk[],
  now: number,
): Promise<void> {
  await tx.deleteFrom("chunks").where("document_id", "=", document.id).execute();
  for (let first = 0; first < chunks.length; first += insertedRowsMax) {
    const rows = chunks.slice(first, first + insertedRowsMax).map((chunk, index) => ({
      id: newId("chk", now),
      workspace_id: document.workspace_id,
      document_id: document.id,
      version,
      position: first + index,
      title: chunk.title,
      text: chunk.text,
      url: document.url,
    }));
    await tx.insertInto("chunks").values(rows).execute();
  }
}

/** Makes the indexes of the workspace outdated. Must be called in the transaction of every change of passages or audience. */
export async function raiseKnowledgeVersion(tx: Tx, workspaceId: string, now: number): Promise<void> {
  await queueKnowledgeWhereOutside(tx, workspaceId, now);
  await tx
    .updateTable("workspaces")
    .set((eb) => ({ knowledge_version: eb("knowledge_version", "+", 1) }))
    .where("id", "=", workspaceId)
    .execute();
}

export function sha256(content: string | Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}
