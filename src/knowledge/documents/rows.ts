import { createHash } from "node:crypto";
import { newId } from "#domain/ids.ts";
import type { Tx } from "#database/contract.ts";
import { dialectOf } from "#database/dialects/dialect.ts";
import type { DocumentsTable } from "#database/schema/knowledge.ts";
import type { Chunk } from "./chunk.ts";
import { queueKnowledgeWhereOutside } from "#knowledge/index/work.ts";

export type DocumentStatus = DocumentsTable["status"];

/** As the API shows it; times are epoch milliseconds. */
export interface Document {
  readonly id: string;
  readonly workspaceId: string;
  readonly source: "crawl" | "upload";
  readonly title: string;
  readonly url: string | null;
  readonly status: DocumentStatus;
  /** Why it failed, for whoever added it. */
  readonly error: string | null;
  readonly chunks: number;
  readonly pages: number;
  readonly audience: readonly string[];
  readonly createdAt: number;
  readonly indexedAt: number | null;
  /** Of a website: when the last crawl ended; null while one is under way. */
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

export type Fresh = Pick<
  DocumentsTable,
  "source" | "origin_key" | "content_hash" | "media_type" | "url" | "audience" | "title" | "body_id" | "parent_id"
>;

/** The new row, or undefined when a document of this origin is there already. */
export async function insertDocument(
  tx: Tx,
  fresh: Fresh & { readonly id: string; readonly workspaceId: string; readonly now: number },
): Promise<DocumentsTable | undefined> {
  const { id, workspaceId, now, ...given } = fresh;
  const row: DocumentsTable = {
    id,
    workspace_id: workspaceId,
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
  // The unique index decides between two that come together; the loser sees the winner's row.
  const unlessThere =
    dialectOf(tx) === "mysql" ? insert.ignore() : insert.onConflict((conflict) => conflict.doNothing());
  const { numInsertedOrUpdatedRows } = await unlessThere.executeTakeFirst();
  return numInsertedOrUpdatedRows === 1n ? row : undefined;
}

/** The document of this origin, which is there. */
export async function documentOfOrigin(tx: Tx, workspaceId: string, originKey: string): Promise<DocumentsTable> {
  const found = await tx
    .selectFrom("documents")
    .selectAll()
    .where("workspace_id", "=", workspaceId)
    .where("origin_key", "=", originKey)
    .executeTakeFirst();
  if (found === undefined) throw new Error("a document of this origin was there and is gone within one transaction");
  return found;
}

/** Puts the chunks of a document's new version in the place of the old one's. */
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

/** Tells the indexes that there is something new. */
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
