import { createHash } from "node:crypto";
import { newId } from "#domain/ids.ts";
import { Problem } from "#domain/problem.ts";
import type { Clock, Log, Store, Tx, Wake } from "#engine/ports.ts";
import { dialectOf } from "#store/dialect.ts";
import { insertWork } from "#store/outbox.ts";
import type { DocumentsTable } from "#store/schema.ts";
import { documentBytesMax, UnreadableDocument } from "./blocks.ts";
import type { ReadDocument } from "./parse-apart.ts";
import { parseApart } from "./parse-apart.ts";
import { readableType, titleFromFileName } from "./parse.ts";
import type { ReadableType } from "./parse.ts";

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
}

export interface NewDocument {
  readonly workspaceId: string;
  readonly fileName: string;
  readonly mediaType?: string;
  readonly bytes: Uint8Array;
  /** Only for askers with one of these tags; empty: for everyone. */
  readonly audience?: readonly string[];
  /** Where readers of an answer find it. */
  readonly url?: string | null;
}

export interface DocumentPage {
  readonly documents: readonly Document[];
  /** Pass it on for what follows; after the last page it yields an empty one. */
  readonly nextCursor: string;
  readonly hasMore: boolean;
}

export interface DocumentFilter {
  readonly status?: DocumentStatus;
  /** 1 to 100, default 20. */
  readonly limit?: number;
  readonly cursor?: string;
}

export interface Documents {
  /**
   * Stores a file and the work of indexing it. The same name again replaces the document, whose old version answers
   * until the new one is ready; content that did not change is not indexed again. A file that turns out unreadable
   * ends as `failed`. Throws `Problem` unsupported_media_type and payload_too_large.
   */
  add(document: NewDocument): Promise<Document>;
  /** Indexes what was added; does nothing where that was done. Called by the worker for outbox rows of kind `ingest`. */
  process(documentId: string): Promise<void>;
  /** Gives work to documents that have none although they are not ready; how many there were. */
  resumePending(): Promise<number>;
  list(workspaceId: string, filter?: DocumentFilter): Promise<DocumentPage>;
  get(workspaceId: string, documentId: string): Promise<Document | undefined>;
  /** False when there is no such document. Its passages are gone from the next search on. */
  remove(workspaceId: string, documentId: string): Promise<boolean>;
}

export interface DocumentsOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly wake?: Wake;
  /** Called in the transaction that ends the indexing of a document, for the events that tell of it. */
  readonly onSettled?: (tx: Tx, document: Document) => Promise<void>;
}

const insertedRowsMax = 100;

export function createDocuments({ store, clock, log, wake, onSettled }: DocumentsOptions): Documents {
  async function add(input: NewDocument): Promise<Document> {
    const type = readableType(input.fileName, input.mediaType);
    if (type === undefined) {
      throw new Problem(
        "unsupported_media_type",
        "Only Markdown (.md), HTML (.html) and plain text (.txt) files can be added.",
      );
    }
    if (input.bytes.byteLength > documentBytesMax)
      throw new Problem("payload_too_large", "A document can be 25 MB at most.");
    const now = clock.now();
    const fresh = {
      origin_key: sha256(`upload\n${input.fileName}`),
      content_hash: sha256(input.bytes),
      media_type: type,
      url: input.url ?? null,
      audience: JSON.stringify([...new Set(input.audience ?? [])].toSorted()),
      title: titleFromFileName(input.fileName),
    };
    // Copied, since the caller's buffer may be used again before the transaction runs.
    const body = Uint8Array.from(input.bytes);
    const { row, queued } = await store.write(async (tx) => {
      const id = newId("doc", now);
      const inserted = await insertNew(tx, { id, workspaceId: input.workspaceId, now, ...fresh });
      if (inserted !== undefined) {
        await insertBody(tx, id, body);
        await enqueue(tx, id, now);
        return { row: inserted, queued: true };
      }
      return replace(tx, input.workspaceId, fresh, body, now);
    });
    if (queued) wake?.notify([laneOf(row.id)], now);
    return toDocument(row);
  }

  async function replace(
    tx: Tx,
    workspaceId: string,
    fresh: Fresh,
    body: Uint8Array,
    now: number,
  ): Promise<{ row: DocumentsTable; queued: boolean }> {
    const found = await tx
      .selectFrom("documents")
      .selectAll()
      .where("workspace_id", "=", workspaceId)
      .where("origin_key", "=", fresh.origin_key)
      .executeTakeFirst();
    if (found === undefined) throw new Error("a document of this origin was there and is gone within one transaction");
    const sameContent =
      found.content_hash === fresh.content_hash && found.url === fresh.url && found.status !== "failed";
    // Only what is new is written: the indexing may be changing the rest of the row at this moment.
    const { audience, content_hash, media_type, url } = fresh;
    const change = sameContent
      ? { audience }
      : { audience, content_hash, media_type, url, status: "pending" as const, error: null };
    await tx.updateTable("documents").set(change).where("id", "=", found.id).execute();
    const row: DocumentsTable = { ...found, ...change };
    // Who may see it holds at once, for the old version too.
    if (found.audience !== fresh.audience) await raiseKnowledgeVersion(tx, workspaceId);
    if (sameContent) return { row, queued: false };
    await tx.deleteFrom("document_bodies").where("document_id", "=", found.id).execute();
    await insertBody(tx, found.id, body);
    await enqueue(tx, found.id, now);
    return { row, queued: true };
  }

  async function process(documentId: string): Promise<void> {
    const row = await start(documentId);
    if (row === undefined) return;
    const parts = await store.read
      .selectFrom("document_bodies")
      .select("body")
      .where("document_id", "=", documentId)
      .orderBy("part")
      .execute();
    if (parts.length === 0) {
      // Removed, or replaced, between the two reads: the row of the newer content follows in the same lane.
      return;
    }
    let read: ReadDocument;
    try {
      // The name of the file stands until the content has named itself.
      const bytes = Buffer.concat(parts.map(({ body }) => body));
      read = await parseApart({ bytes, type: readable(row.media_type), title: row.title });
    } catch (error) {
      if (!(error instanceof UnreadableDocument)) throw error;
      log.info({ documentId, reason: error.message }, "a document cannot be read");
      await settle(row, { status: "failed", error: error.message });
      return;
    }
    const done = await publish(row, read);
    if (done) log.debug({ documentId, chunks: read.chunks.length }, "a document was indexed");
  }

  /** Takes the document up; undefined when there is nothing to do. */
  async function start(documentId: string): Promise<DocumentsTable | undefined> {
    return store.write(async (tx) => {
      const row = await tx.selectFrom("documents").selectAll().where("id", "=", documentId).executeTakeFirst();
      if (row === undefined || row.status === "indexed" || row.status === "failed") return undefined;
      await tx.updateTable("documents").set({ status: "processing" }).where("id", "=", documentId).execute();
      return { ...row, status: "processing" };
    });
  }

  /** False when the document was changed, removed or finished by somebody else meanwhile. */
  async function settle(
    row: DocumentsTable,
    end: Partial<DocumentsTable>,
    alongside?: (tx: Tx) => Promise<void>,
  ): Promise<boolean> {
    return store.write(async (tx) => {
      const { numUpdatedRows } = await tx
        .updateTable("documents")
        .set(end)
        .where("id", "=", row.id)
        .where("status", "=", "processing")
        .where("content_hash", "=", row.content_hash)
        .where("indexed_version", "=", row.indexed_version)
        .executeTakeFirst();
      if (numUpdatedRows !== 1n) return false;
      await alongside?.(tx);
      const settled = await tx.selectFrom("documents").selectAll().where("id", "=", row.id).executeTakeFirstOrThrow();
      await onSettled?.(tx, toDocument(settled));
      return true;
    });
  }

  async function publish(row: DocumentsTable, { title, chunks }: ReadDocument): Promise<boolean> {
    const version = row.indexed_version + 1;
    const now = clock.now();
    const end = {
      status: "indexed",
      error: null,
      title,
      chunks: chunks.length,
      pages: 1,
      indexed_version: version,
      indexed_at: now,
    } as const;
    return settle(row, end, async (tx) => {
      await tx.deleteFrom("chunks").where("document_id", "=", row.id).execute();
      for (let first = 0; first < chunks.length; first += insertedRowsMax) {
        const rows = chunks.slice(first, first + insertedRowsMax).map((chunk, index) => ({
          id: newId("chk", now),
          workspace_id: row.workspace_id,
          document_id: row.id,
          version,
          position: first + index,
          title: chunk.title,
          text: chunk.text,
          url: row.url,
        }));
        await tx.insertInto("chunks").values(rows).execute();
      }
      await raiseKnowledgeVersion(tx, row.workspace_id);
    });
  }

  async function resumePending(): Promise<number> {
    const waiting = await store.read
      .selectFrom("documents")
      .select("id")
      .where("status", "in", ["pending", "processing"])
      .execute();
    if (waiting.length === 0) return 0;
    const now = clock.now();
    const lanes: string[] = [];
    for (const { id } of waiting) {
      const lane = laneOf(id);
      const queued = await store.write(async (tx) => {
        const row = await tx
          .selectFrom("outbox")
          .select("id")
          .where("lane", "=", lane)
          .where("dead_at", "is", null)
          .executeTakeFirst();
        if (row === undefined) await enqueue(tx, id, now);
        return row === undefined;
      });
      if (queued) lanes.push(lane);
    }
    if (lanes.length > 0) wake?.notify(lanes, now);
    return lanes.length;
  }

  async function list(workspaceId: string, filter: DocumentFilter = {}): Promise<DocumentPage> {
    const limit = Math.min(100, Math.max(1, Math.trunc(filter.limit ?? 20)));
    const after = filter.cursor === undefined ? undefined : readCursor(filter.cursor, workspaceId, filter.status);
    let query = store.read.selectFrom("documents").selectAll().where("workspace_id", "=", workspaceId);
    if (filter.status !== undefined) query = query.where("status", "=", filter.status);
    if (after !== undefined) {
      query = query.where((eb) =>
        eb.or([eb("created_at", "<", after.at), eb.and([eb("created_at", "=", after.at), eb("id", "<", after.id)])]),
      );
    }
    const rows = await query
      .orderBy("created_at", "desc")
      .orderBy("id", "desc")
      .limit(limit + 1)
      .execute();
    const shown = rows.slice(0, limit);
    const last = shown.at(-1);
    const end = last === undefined ? (after ?? { at: 0, id: "" }) : { at: last.created_at, id: last.id };
    return {
      documents: shown.map(toDocument),
      nextCursor: writeCursor(end, workspaceId, filter.status),
      hasMore: rows.length > limit,
    };
  }

  async function get(workspaceId: string, documentId: string): Promise<Document | undefined> {
    const row = await store.read
      .selectFrom("documents")
      .selectAll()
      .where("id", "=", documentId)
      .where("workspace_id", "=", workspaceId)
      .executeTakeFirst();
    return row === undefined ? undefined : toDocument(row);
  }

  async function remove(workspaceId: string, documentId: string): Promise<boolean> {
    return store.write(async (tx) => {
      const { numDeletedRows } = await tx
        .deleteFrom("documents")
        .where("id", "=", documentId)
        .where("workspace_id", "=", workspaceId)
        .executeTakeFirst();
      if (numDeletedRows !== 1n) return false;
      await tx.deleteFrom("chunks").where("document_id", "=", documentId).execute();
      await tx.deleteFrom("document_bodies").where("document_id", "=", documentId).execute();
      await raiseKnowledgeVersion(tx, workspaceId);
      return true;
    });
  }

  return { add, process, resumePending, list, get, remove };
}

type Fresh = Pick<DocumentsTable, "origin_key" | "content_hash" | "media_type" | "url" | "audience" | "title">;

/** The new row, or undefined when a document of this origin is there already. */
async function insertNew(
  tx: Tx,
  fresh: Fresh & { readonly id: string; readonly workspaceId: string; readonly now: number },
): Promise<DocumentsTable | undefined> {
  const { id, workspaceId, now, ...given } = fresh;
  const row: DocumentsTable = {
    id,
    workspace_id: workspaceId,
    source: "upload",
    ...given,
    status: "pending",
    error: null,
    chunks: 0,
    pages: 0,
    indexed_version: 0,
    created_at: now,
    indexed_at: null,
  };
  const insert = tx.insertInto("documents").values(row);
  // The unique index decides between two that come together; the loser sees the winner's row.
  const unlessThere =
    dialectOf(tx) === "mysql" ? insert.ignore() : insert.onConflict((conflict) => conflict.doNothing());
  const { numInsertedOrUpdatedRows } = await unlessThere.executeTakeFirst();
  return numInsertedOrUpdatedRows === 1n ? row : undefined;
}

/** MariaDB refuses a statement of more than 16 MB unless it is told otherwise, and ends the connection. */
const bodyPartBytes = 1_048_576;

async function insertBody(tx: Tx, documentId: string, body: Uint8Array): Promise<void> {
  // At least one part, also of an empty file.
  for (let part = 0; part === 0 || part * bodyPartBytes < body.byteLength; part += 1) {
    const piece = body.subarray(part * bodyPartBytes, (part + 1) * bodyPartBytes);
    await tx.insertInto("document_bodies").values({ document_id: documentId, part, body: piece }).execute();
  }
}

const laneOf = (documentId: string): string => `ingest:${documentId}`;

async function enqueue(tx: Tx, documentId: string, now: number): Promise<void> {
  await insertWork(tx, [{ lane: laneOf(documentId), kind: "ingest", payload: { documentId }, dueAt: now }], now);
}

async function raiseKnowledgeVersion(tx: Tx, workspaceId: string): Promise<void> {
  await tx
    .updateTable("workspaces")
    .set((eb) => ({ knowledge_version: eb("knowledge_version", "+", 1) }))
    .where("id", "=", workspaceId)
    .execute();
}

function sha256(content: string | Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}

function readable(mediaType: string): ReadableType {
  const type = readableType("", mediaType);
  if (type === undefined) throw new UnreadableDocument(`Files of the type ${mediaType} cannot be read.`);
  return type;
}

function toDocument(row: DocumentsTable): Document {
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
  };
}

interface Place {
  readonly at: number;
  readonly id: string;
}

/** Names the list it was issued for, so that it is refused for another. */
function writeCursor({ at, id }: Place, workspaceId: string, status: DocumentStatus | undefined): string {
  return `cur_${Buffer.from(JSON.stringify(["documents", workspaceId, status ?? "", at, id])).toString("base64url")}`;
}

function readCursor(cursor: string, workspaceId: string, status: DocumentStatus | undefined): Place {
  const invalid = new Problem("invalid_cursor", "The cursor was not issued for this list with these filters.");
  let data: unknown;
  try {
    data = JSON.parse(Buffer.from(cursor.replace(/^cur_/, ""), "base64url").toString("utf8"));
  } catch (cause) {
    throw new Problem("invalid_cursor", invalid.message, { cause });
  }
  if (!Array.isArray(data) || data.length !== 5) throw invalid;
  const [kind, workspace, filter, at, id] = data as unknown[];
  if (kind !== "documents" || workspace !== workspaceId || filter !== (status ?? "")) throw invalid;
  if (typeof at !== "number" || !Number.isSafeInteger(at) || typeof id !== "string") throw invalid;
  return { at, id };
}
