import { Problem } from "#domain/problem.ts";
import type { Clock } from "#runtime/clock.ts";
import type { Log } from "#runtime/log.ts";
import type { Store, Tx } from "#database/contract.ts";
import type { Wake } from "#runtime/signals.ts";
import type { WorkDeclaration } from "#database/work.ts";
import type { GuardedFetch } from "#outbound/guarded-fetch.ts";
import type { NewCrawl } from "#knowledge/crawl/crawls.ts";
import { checkCrawl, crawlLane, putCrawl, removeCrawl, restartCrawl } from "#knowledge/crawl/crawls.ts";
import type { CrawlProgress } from "#knowledge/crawl/progress.ts";
import { crawlProgress } from "#knowledge/crawl/progress.ts";
import { createCrawler } from "#knowledge/crawl/run.ts";
import { createSiteFetcher } from "#knowledge/crawl/site.ts";
import type { StoredBlob } from "./blobs.ts";
import { createBlobs, deleteBlob } from "./blobs.ts";
import { documentBytesMax } from "./blocks.ts";
import { declareDocumentWork, resumePending } from "./document-work.ts";
import type { DocumentEdits } from "./editing/editing.ts";
import { createDocumentEdits } from "./editing/editing.ts";
import { createIndexer, ingestLane } from "./indexer.ts";
import type { DocumentFilter, DocumentPage } from "./list.ts";
import { documentsOfFiles, listDocuments } from "./list.ts";
import type { Document, OnSettled, RecordChange } from "./rows.ts";
import { findRow, raiseKnowledgeVersion, toDocument } from "./rows.ts";
import type { Upload } from "./upload.ts";
import { checkUpload, saveUpload, uploadType } from "./upload.ts";

export type { CrawlProgress } from "#knowledge/crawl/progress.ts";
export type { Document } from "./rows.ts";

export type NewDocument = Upload & ({ readonly bytes: Uint8Array } | { readonly body: StoredBlob });

export interface Documents extends DocumentEdits {
  /** Throws `Problem` unsupported_media_type for a file that cannot be read. */
  checkType(fileName: string, mediaType?: string): void;
  /** Stores bytes as they arrive, for {@link add}. Throws `Problem` payload_too_large and storage_full. */
  receive(bytes: AsyncIterable<Uint8Array>): Promise<StoredBlob>;
  /** Removes received bytes that are not added after all. */
  discard(blob: StoredBlob): Promise<void>;
  /**
   * Makes a document of a file and queues its indexing. A file of the same name replaces the document, whose old version
   * answers until the new one is indexed; unchanged content is not indexed again. An unreadable file ends as `failed`.
   * Throws `Problem` unsupported_media_type and payload_too_large.
   */
  add(document: NewDocument, record?: RecordChange): Promise<Document>;
  /** Adds a website, or crawls it again. Throws `Problem` invalid_parameter. */
  crawl(site: NewCrawl, record?: RecordChange): Promise<Document>;
  /** Crawls a website again. Undefined when there is no such document; throws `Problem` not_a_website for a file. */
  recrawl(workspaceId: string, documentId: string, record?: RecordChange): Promise<Document | undefined>;
  /** Progress of the latest run of a website; undefined for a file. */
  progress(documentId: string): Promise<CrawlProgress | undefined>;
  /** Indexes an uploaded file; does nothing where it was indexed or has failed. */
  process(documentId: string): Promise<void>;
  readonly work: readonly WorkDeclaration[];
  /** Whether its work has ended, successfully or not. A website stays `indexed` while it is crawled again. */
  isSettled(document: Document): boolean;
  /** The outbox lane of the document's work. */
  laneOf(document: Document): string;
  /** Queues work for pending documents that have none, and returns their number. */
  resumePending(): Promise<number>;
  /** Removes the bytes of interrupted uploads, and returns their number. */
  removeOrphans(): Promise<number>;
  list(workspaceId: string, filter?: DocumentFilter): Promise<DocumentPage>;
  get(workspaceId: string, documentId: string): Promise<Document | undefined>;
  /** The uploaded files of these names. */
  ofFiles(workspaceId: string, fileNames: readonly string[]): Promise<readonly Document[]>;
  /** False when there is no such document. The next search no longer finds its passages. */
  remove(workspaceId: string, documentId: string, record?: RecordChange): Promise<boolean>;
}

export interface DocumentsOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  /** Fetches the pages of websites. */
  readonly fetch: GuardedFetch;
  readonly wake?: Wake;
  /** Reserves disk space until the returned function is called. Throws `Problem` storage_full. */
  readonly claimRoom?: (bytes: number) => Promise<() => void>;
  readonly onSettled?: OnSettled;
}

export function createDocuments(options: DocumentsOptions): Documents {
  const { store, clock, log, fetch, wake, onSettled, claimRoom } = options;
  const blobs = createBlobs(store, clock);
  const indexer = createIndexer({ store, clock, log, blobs, onSettled });
  const fetcher = createSiteFetcher(fetch, clock);
  const crawler = createCrawler({ store, clock, log, fetcher, onSettled });

  async function add(input: NewDocument, record?: RecordChange): Promise<Document> {
    const checked = checkUpload(input);
    if ("bytes" in input && input.bytes.byteLength > documentBytesMax) {
      throw new Problem("payload_too_large", "A document can be 25 MB at most.");
    }
    const blob = "body" in input ? input.body : await blobs.store(once(input.bytes));
    const now = clock.now();
    const { row, queued } = await store.write(async (tx) => {
      const saved = await saveUpload(tx, checked, blob, now);
      await record?.(tx, { verb: saved.isNew ? "added" : "changed", title: saved.row.title });
      return saved;
    });
    if (queued) wake?.notify([ingestLane(row.id)], now);
    else await blobs.remove(blob.id);
    return toDocument(row);
  }

  async function receive(bytes: AsyncIterable<Uint8Array>): Promise<StoredBlob> {
    const release = await claimRoom?.(documentBytesMax);
    try {
      return await blobs.store(bytes);
    } finally {
      release?.();
    }
  }

  async function crawl(site: NewCrawl, record?: RecordChange): Promise<Document> {
    const checked = checkCrawl(site);
    const now = clock.now();
    const { row, queued } = await store.write(async (tx) => {
      const put = await putCrawl(tx, checked, now);
      await record?.(tx, { verb: put.isNew ? "added" : "changed", title: put.row.title, to: "crawled again" });
      return put;
    });
    if (queued) wake?.notify([crawlLane(checked.url)], now);
    return toDocument(row);
  }

  async function recrawl(
    workspaceId: string,
    documentId: string,
    record?: RecordChange,
  ): Promise<Document | undefined> {
    const now = clock.now();
    const site = await store.write(async (tx) => {
      const row = await restartCrawl(tx, workspaceId, documentId, now);
      if (row !== undefined) await record?.(tx, { verb: "changed", title: row.title, to: "crawled again" });
      return row;
    });
    if (site === undefined) return undefined;
    wake?.notify([crawlLane(site.url)], now);
    return get(workspaceId, documentId);
  }

  async function get(workspaceId: string, documentId: string): Promise<Document | undefined> {
    const row = await findRow(store.read, workspaceId, documentId);
    return row === undefined ? undefined : toDocument(row);
  }

  return {
    checkType: uploadType,
    receive,
    discard: (blob) => blobs.remove(blob.id),
    add,
    crawl,
    recrawl,
    progress: (documentId) => crawlProgress(store.read, documentId),
    process: indexer.index,
    work: declareDocumentWork({ store, clock, wake, indexer, crawler }),
    isSettled: ({ source, status, crawledAt }) =>
      source === "crawl" ? crawledAt !== null : status === "indexed" || status === "failed",
    laneOf: ({ id, source, url }) => (source === "crawl" && url !== null ? crawlLane(url) : ingestLane(id)),
    async resumePending() {
      const now = clock.now();
      const lanes = await resumePending(store, now);
      if (lanes.length > 0) wake?.notify(lanes, now);
      return lanes.length;
    },
    removeOrphans: blobs.removeOrphans,
    list: (workspaceId, filter = {}) => listDocuments(store.read, workspaceId, filter),
    get,
    ofFiles: (workspaceId, fileNames) => documentsOfFiles(store.read, workspaceId, fileNames),
    ...createDocumentEdits({ store, clock, wake, blobs }),
    remove: (workspaceId, documentId, record) =>
      store.write((tx) => removeDocument(tx, workspaceId, documentId, clock.now(), record)),
  };
}

async function removeDocument(
  tx: Tx,
  workspaceId: string,
  documentId: string,
  now: number,
  record: RecordChange | undefined,
): Promise<boolean> {
  const row = await findRow(tx, workspaceId, documentId);
  if (row === undefined) return false;
  if (row.source === "crawl") await removeCrawl(tx, documentId);
  const { numDeletedRows } = await tx.deleteFrom("documents").where("id", "=", documentId).executeTakeFirst();
  if (numDeletedRows !== 1n) return false;
  await tx.deleteFrom("chunks").where("document_id", "=", documentId).execute();
  const stored = await tx.selectFrom("document_bodies").select("id").where("document_id", "=", documentId).execute();
  for (const { id } of stored) await deleteBlob(tx, id);
  await raiseKnowledgeVersion(tx, workspaceId, now);
  await record?.(tx, { verb: "removed", title: row.title });
  return true;
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
