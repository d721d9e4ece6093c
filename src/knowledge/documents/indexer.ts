import type { Clock } from "#runtime/clock.ts";
import { Type } from "typebox";
import { workKind } from "#database/work.ts";
import type { Log } from "#runtime/log.ts";
import type { Store, Tx } from "#database/contract.ts";
import { insertWork } from "#database/queries/outbox.ts";
import type { DocumentsTable } from "#database/schema/knowledge.ts";
import type { ReadDocument } from "#knowledge/parse/jobs.ts";
import { parseInWorker } from "#knowledge/parse/parse-in-worker.ts";
import { UnreadableDocument } from "./blocks.ts";
import type { Blobs } from "./blobs.ts";
import type { ReadableType } from "./file-types.ts";
import { readableType } from "./file-types.ts";
import type { OnSettled } from "./rows.ts";
import { lockRow, raiseKnowledgeVersion, replaceChunks, toDocument } from "./rows.ts";

export interface IndexerOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly blobs: Blobs;
  readonly onSettled: OnSettled | undefined;
}

/** The indexing of an uploaded document. */
export const ingestKind = workKind("ingest", Type.Object({ documentId: Type.String() }));

export const ingestLane = (documentId: string): string => `ingest:${documentId}`;

export async function enqueueIngest(tx: Tx, documentId: string, now: number): Promise<void> {
  await insertWork(tx, [ingestKind.queued(ingestLane(documentId), { documentId }, now)], now);
}

/** Turns uploaded files into passages. */
export function createIndexer({ store, clock, log, blobs, onSettled }: IndexerOptions) {
  return { index, abandon };

  /** Does nothing where the document was indexed or has failed. */
  async function index(documentId: string, signal?: AbortSignal): Promise<void> {
    const row = await store.write((tx) => startIndexing(tx, documentId));
    if (row === undefined || row.body_id === null) return;
    const bytes = await blobs.read(row.body_id);
    // The document was removed or replaced meanwhile; the work of the new content follows in the same lane.
    if (bytes === undefined) return;
    let document: ReadDocument;
    try {
      const task = {
        bytes,
        type: typeOf(row.media_type),
        title: row.title,
        hasOwnTitle: row.own_title === 1,
        isArticle: row.article === 1,
      };
      document = await parseInWorker(task, undefined, signal);
    } catch (error) {
      if (!(error instanceof UnreadableDocument)) throw error;
      log.info({ documentId, reason: error.message }, "documents: reading failed");
      await store.write((tx) => settle(tx, row, { status: "failed", error: error.message }));
      return;
    }
    if (await publish(row, document)) log.debug({ documentId, chunks: document.chunks.length }, "documents: indexed");
  }

  async function abandon(tx: Tx, documentId: string, error: string): Promise<void> {
    const { numUpdatedRows } = await tx
      .updateTable("documents")
      .set({ status: "failed", error })
      .where("id", "=", documentId)
      .where("status", "in", ["pending", "processing"])
      .executeTakeFirst();
    if (numUpdatedRows === 1n) await emitSettled(tx, documentId);
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
    return store.write((tx) =>
      settle(tx, row, end, async () => {
        await replaceChunks(tx, row, version, chunks, now);
        await raiseKnowledgeVersion(tx, row.workspace_id, now);
      }),
    );
  }

  /** False where the document was changed, removed or indexed by another process meanwhile. */
  async function settle(
    tx: Tx,
    row: DocumentsTable,
    end: Partial<DocumentsTable>,
    storeChunks?: () => Promise<void>,
  ): Promise<boolean> {
    const { numUpdatedRows } = await tx
      .updateTable("documents")
      .set(end)
      .where("id", "=", row.id)
      .where("status", "=", "processing")
      .where("content_hash", "=", row.content_hash)
      .where("indexed_version", "=", row.indexed_version)
      .executeTakeFirst();
    if (numUpdatedRows !== 1n) return false;
    await storeChunks?.();
    await emitSettled(tx, row.id);
    return true;
  }

  async function emitSettled(tx: Tx, documentId: string): Promise<void> {
    const row = await tx.selectFrom("documents").selectAll().where("id", "=", documentId).executeTakeFirstOrThrow();
    await onSettled?.(tx, toDocument(row));
  }
}

async function startIndexing(tx: Tx, documentId: string): Promise<DocumentsTable | undefined> {
  const row = await lockRow(tx, documentId);
  if (row?.source !== "upload" || row.status === "indexed" || row.status === "failed") return undefined;
  await tx.updateTable("documents").set({ status: "processing" }).where("id", "=", documentId).execute();
  return { ...row, status: "processing" };
}

function typeOf(mediaType: string): ReadableType {
  const type = readableType("", mediaType);
  if (type === undefined) throw new UnreadableDocument(`Files of the type ${mediaType} cannot be read.`);
  return type;
}
