import { audienceTags } from "#domain/workspace/audience.ts";
import { newId } from "#domain/ids.ts";
import { Problem } from "#domain/problem.ts";
import type { Clock } from "#runtime/clock.ts";
import type { Log } from "#runtime/log.ts";
import type { Store, Tx } from "#database/contract.ts";
import type { Wake } from "#runtime/signals.ts";
import { finishWork, insertWork } from "#database/queries/outbox.ts";
import type { OutboxRow } from "#database/queries/outbox.ts";
import type { DocumentsTable } from "#database/schema/knowledge.ts";
import type { GuardedFetch } from "#outbound/guarded-fetch.ts";
import { documentBytesMax, UnreadableDocument } from "./blocks.ts";
import type { StoredBlob } from "./blobs.ts";
import { adoptBlob, createBlobs, deleteBlob } from "./blobs.ts";
import type { CrawlWork, NewCrawl } from "#knowledge/crawl/crawls.ts";
import {
  checkCrawl,
  crawlLane,
  enqueueRun,
  putCrawl,
  recrawlWhenDue,
  removeCrawl,
  startRun,
} from "#knowledge/crawl/crawls.ts";
import { createCrawler } from "#knowledge/crawl/run.ts";
import type { CrawlProgress } from "#knowledge/crawl/progress.ts";
import { crawlProgress } from "#knowledge/crawl/progress.ts";
import { createSites } from "#knowledge/crawl/site.ts";
import type { DocumentFilter, DocumentPage } from "./list.ts";
import { listDocuments } from "./list.ts";
import type { Document, Fresh } from "./rows.ts";
import { documentOfOrigin, insertDocument, raiseKnowledgeVersion, replaceChunks, sha256, toDocument } from "./rows.ts";
import type { ReadableType } from "./file-types.ts";
import { readableEndings, readableType } from "./file-types.ts";
import type { ReadDocument } from "#knowledge/parse/parse-in-worker.ts";
import { parseInWorker } from "#knowledge/parse/parse-in-worker.ts";
import { titleFromFileName } from "#knowledge/parse/parse.ts";

export type { CrawlProgress } from "#knowledge/crawl/progress.ts";
export type { Document } from "./rows.ts";

export type NewDocument = {
  readonly workspaceId: string;
  readonly fileName: string;
  readonly mediaType?: string;
  /** Only for askers with one of these tags; empty: for everyone. */
  readonly audience?: readonly string[];
  /** Where readers of an answer find it. */
  readonly url?: string | null;
} & ({ readonly bytes: Uint8Array } | { readonly body: StoredBlob });

export interface Documents {
  /** Throws `Problem` unsupported_media_type for a file that cannot be read. */
  checkType(fileName: string, mediaType?: string): void;
  /** Stores bytes as they arrive, for {@link add}. Throws `Problem` payload_too_large and storage_full. */
  receive(bytes: AsyncIterable<Uint8Array>): Promise<StoredBlob>;
  /** Removes bytes that no document is made of. */
  discard(body: StoredBlob): Promise<void>;
  /**
   * Makes a document of a file, with the work of indexing it. The same name again replaces the document, whose old version
   * answers until the new one is ready; content that did not change is not indexed again. A file that turns out unreadable
   * ends as `failed`. Throws `Problem` unsupported_media_type and payload_too_large.
   */
  add(document: NewDocument): Promise<Document>;
  /** Adds a website, or goes through it again. Throws `Problem` invalid_parameter. */
  crawl(site: NewCrawl): Promise<Document>;
  /** Goes through a website again. Undefined when there is no such document; throws `Problem` not_a_website for a file. */
  recrawl(workspaceId: string, documentId: string): Promise<Document | undefined>;
  /** How far the newest run through a website is; undefined for what is none. */
  progress(documentId: string): Promise<CrawlProgress | undefined>;
  /** Indexes what was added; does nothing where that was done. */
  process(documentId: string): Promise<void>;
  /** What the worker does for rows of each kind; it ends them. */
  readonly work: Readonly<Record<WorkKind, (rows: readonly OutboxRow[], signal: AbortSignal) => Promise<void>>>;
  /** Ends a document as failed whose work was given up. */
  abandoned(tx: Tx, row: OutboxRow, reason: string, now: number): Promise<() => void>;
  /** Whether work on it has ended, well or not. A website that answers is `indexed` also while it is crawled again. */
  isSettled(document: Document): boolean;
  /** The lane of the work that a document waits for. */
  laneOf(document: Document): string;
  /** Gives work to documents that have none although they are not ready; how many there were. */
  resumePending(): Promise<number>;
  /** Removes what uploads that broke off have left; how many. */
  removeOrphans(): Promise<number>;
  list(workspaceId: string, filter?: DocumentFilter): Promise<DocumentPage>;
  get(workspaceId: string, documentId: string): Promise<Document | undefined>;
  /** The uploaded files of these names. */
  ofFiles(workspaceId: string, fileNames: readonly string[]): Promise<readonly Document[]>;
  /** False when there is no such document. Its passages are gone from the next search on. */
  remove(workspaceId: string, documentId: string): Promise<boolean>;
}

export type WorkKind = "ingest" | "crawl" | "recrawl";

export interface DocumentsOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  /** For pages of websites. */
  readonly fetch: GuardedFetch;
  readonly wake?: Wake;
  /** Claims room for the bytes of a document while they are stored, until what it returns is called. Throws Problem storage_full. */
  readonly claimRoom?: (bytes: number) => Promise<() => void>;
  /** Called in the transaction that ends the indexing of a document, for the events that tell of it. */
  readonly onSettled?: (tx: Tx, document: Document) => Promise<void>;
}

export function createDocuments(options: DocumentsOptions): Documents {
  const { store, clock, log, fetch, wake, onSettled, claimRoom } = options;
  const bodies = createBlobs(store, clock);
  const sites = createSites(fetch, clock);
  const crawler = createCrawler({ store, clock, log, sites, ...(onSettled === undefined ? {} : { onSettled }) });

  async function add(input: NewDocument): Promise<Document> {
    const type = typeOf(input.fileName, input.mediaType);
    const audience = input.audience === undefined ? undefined : JSON.stringify(audienceTags(input.audience));
    if ("bytes" in input && input.bytes.byteLength > documentBytesMax) {
      throw new Problem("payload_too_large", "A document can be 25 MB at most.");
    }
    const body = "body" in input ? input.body : await bodies.store(once(input.bytes));
    const now = clock.now();
    const fresh: Fresh = {
      source: "upload",
      origin_key: originOf(input.fileName),
      content_hash: body.hash,
      media_type: type,
      url: input.url ?? null,
      audience: audience ?? "[]",
      title: titleFromFileName(input.fileName),
      body_id: body.id,
      parent_id: null,
    };
    const { row, queued } = await store.write(async (tx) => {
      const id = newId("doc", now);
      const inserted = await insertDocument(tx, { id, workspaceId: input.workspaceId, now, ...fresh });
      if (inserted === undefined) return replace(tx, input.workspaceId, fresh, audience, body, now);
      await giveBody(tx, body, id);
      await enqueueIngest(tx, id, now);
      return { row: inserted, queued: true };
    });
    if (queued) wake?.notify([ingestLane(row.id)], now);
    else await bodies.remove(body.id);
    return toDocument(row);
  }

  async function replace(
    tx: Tx,
    workspaceId: string,
    fresh: Fresh,
    givenAudience: string | undefined,
    body: StoredBlob,
    now: number,
  ): Promise<{ row: DocumentsTable; queued: boolean }> {
    const found = await documentOfOrigin(tx, workspaceId, fresh.origin_key);
    const sameContent =
      found.content_hash === fresh.content_hash && found.url === fresh.url && found.status !== "failed";
    // Only what is new is written: the indexing may be changing the rest of the row at this moment.
    const { content_hash, media_type, url, body_id } = fresh;
    // A new version of a gated document is not open to everybody because nobody said anything of that.
    const audience = givenAudience ?? found.audience;
    const change = sameContent
      ? { audience }
      : { audience, content_hash, media_type, url, body_id, status: "pending" as const, error: null };
    await tx.updateTable("documents").set(change).where("id", "=", found.id).execute();
    const row: DocumentsTable = { ...found, ...change };
    // Who may see it holds at once, for the old version too.
    if (found.audience !== audience) await raiseKnowledgeVersion(tx, workspaceId, now);
    if (sameContent) return { row, queued: false };
    if (found.body_id !== null) await deleteBlob(tx, found.body_id);
    await giveBody(tx, body, found.id);
    await enqueueIngest(tx, found.id, now);
    return { row, queued: true };
  }

  async function process(documentId: string, signal?: AbortSignal): Promise<void> {
    const row = await start(documentId);
    if (row === undefined || row.body_id === null) return;
    const bytes = await bodies.read(row.body_id);
    // Removed, or replaced, between the two reads: the row of the newer content follows in the same lane.
    if (bytes === undefined) return;
    let read: ReadDocument;
    try {
      // The name of the file stands until the content has named itself.
      read = await parseInWorker({ bytes, type: readable(row.media_type), title: row.title }, undefined, signal);
    } catch (error) {
      if (!(error instanceof UnreadableDocument)) throw error;
      log.info({ documentId, reason: error.message }, "documents: reading failed");
      await settle(row, { status: "failed", error: error.message });
      return;
    }
    const done = await publish(row, read);
    if (done) log.debug({ documentId, chunks: read.chunks.length }, "documents: indexed");
  }

  /** Takes the document up; undefined when there is nothing to do. */
  async function start(documentId: string): Promise<DocumentsTable | undefined> {
    return store.write(async (tx) => {
      const row = await tx
        .selectFrom("documents")
        .selectAll()
        .where("id", "=", documentId)
        .where("source", "=", "upload")
        .executeTakeFirst();
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
      await replaceChunks(tx, row, version, chunks, now);
      await raiseKnowledgeVersion(tx, row.workspace_id, now);
    });
  }

  async function recrawl(workspaceId: string, documentId: string): Promise<Document | undefined> {
    const now = clock.now();
    const url = await store.write(async (tx) => {
      const row = await findRow(tx, workspaceId, documentId);
      if (row === undefined) return undefined;
      if (row.source !== "crawl" || row.url === null) {
        throw new Problem(
          "not_a_website",
          "This document is a file, which is not crawled. Upload the file again to update it.",
        );
      }
      await startRun(tx, row.id, row.url, now);
      return row.url;
    });
    if (url === undefined) return undefined;
    wake?.notify([crawlLane(url)], now);
    return get(workspaceId, documentId);
  }

  async function workIngest(rows: readonly OutboxRow[], signal: AbortSignal): Promise<void> {
    const { documentId } = payloadOf(rows);
    await process(documentId, signal);
    await store.write((tx) => finishWork(tx, rows));
  }

  async function workCrawl(rows: readonly OutboxRow[], signal: AbortSignal): Promise<void> {
    const { documentId, run } = payloadOf(rows);
    const { dueAt } = await crawler.slice({ documentId, run }, signal);
    const url = await store.write(async (tx) => {
      await finishWork(tx, rows);
      const row = await tx.selectFrom("documents").select("url").where("id", "=", documentId).executeTakeFirst();
      if (row === undefined || row.url === null) return null;
      if (dueAt !== null) await enqueueRun(tx, documentId, row.url, run, dueAt, clock.now());
      return row.url;
    });
    // The end of a run begins the next one where that was requested.
    if (dueAt === null && url !== null) wake?.notify([crawlLane(url)], clock.now());
  }

  async function workRecrawl(rows: readonly OutboxRow[]): Promise<void> {
    const { documentId } = payloadOf(rows);
    const now = clock.now();
    const lane = await store.write(async (tx) => {
      await finishWork(tx, rows);
      return recrawlWhenDue(tx, documentId, now);
    });
    if (lane !== undefined) wake?.notify([lane], now);
  }

  async function abandoned(tx: Tx, row: OutboxRow, reason: string): Promise<() => void> {
    const { documentId, run } = payloadOf([row]);
    const error = `It could not be indexed because of a failure in the program: ${reason}`.slice(0, 500);
    if (row.kind === "crawl") await crawler.abandon({ documentId, run }, tx, error);
    if (row.kind === "ingest") {
      const { numUpdatedRows } = await tx
        .updateTable("documents")
        .set({ status: "failed", error })
        .where("id", "=", documentId)
        .where("status", "in", ["pending", "processing"])
        .executeTakeFirst();
      if (numUpdatedRows === 1n) {
        const settled = await tx.selectFrom("documents").selectAll().where("id", "=", documentId).executeTakeFirst();
        if (settled !== undefined) await onSettled?.(tx, toDocument(settled));
      }
    }
    return () => undefined;
  }

  async function resumePending(): Promise<number> {
    const waiting = await store.read
      .selectFrom("documents")
      .leftJoin("crawls", "crawls.document_id", "documents.id")
      .select(["id", "source", "url", "run"])
      .where((eb) =>
        eb.or([
          eb("status", "in", ["pending", "processing"]),
          eb.and([eb("source", "=", "crawl"), eb("crawled_at", "is", null)]),
        ]),
      )
      .where("parent_id", "is", null)
      .execute();
    const now = clock.now();
    const lanes: string[] = [];
    for (const { id, source, url, run } of waiting) {
      const site = source === "crawl" && url !== null && run !== null ? { url, run } : undefined;
      const lane = site === undefined ? ingestLane(id) : crawlLane(site.url);
      const queued = await store.write(async (tx) => {
        let rows = tx.selectFrom("outbox").select("id").where("lane", "=", lane).where("dead_at", "is", null);
        // Several sites can share a lane.
        if (site !== undefined) rows = rows.where("payload", "=", JSON.stringify({ documentId: id, run: site.run }));
        if ((await rows.limit(1).executeTakeFirst()) !== undefined) return false;
        if (site === undefined) await enqueueIngest(tx, id, now);
        else await enqueueRun(tx, id, site.url, site.run, now, now);
        return true;
      });
      if (queued) lanes.push(lane);
    }
    if (lanes.length > 0) wake?.notify(lanes, now);
    return lanes.length;
  }

  async function get(workspaceId: string, documentId: string): Promise<Document | undefined> {
    const row = await findRow(store.read, workspaceId, documentId);
    return row === undefined ? undefined : toDocument(row);
  }

  async function remove(workspaceId: string, documentId: string): Promise<boolean> {
    return store.write(async (tx) => {
      const row = await findRow(tx, workspaceId, documentId);
      if (row === undefined) return false;
      if (row.source === "crawl") await removeCrawl(tx, documentId);
      const { numDeletedRows } = await tx.deleteFrom("documents").where("id", "=", documentId).executeTakeFirst();
      if (numDeletedRows !== 1n) return false;
      await tx.deleteFrom("chunks").where("document_id", "=", documentId).execute();
      const held = await tx.selectFrom("document_bodies").select("id").where("document_id", "=", documentId).execute();
      for (const { id } of held) await deleteBlob(tx, id);
      await raiseKnowledgeVersion(tx, workspaceId, clock.now());
      return true;
    });
  }

  return {
    checkType: typeOf,
    async receive(bytes) {
      const release = await claimRoom?.(documentBytesMax);
      try {
        return await bodies.store(bytes);
      } finally {
        release?.();
      }
    },
    discard: (body) => bodies.remove(body.id),
    add,
    async crawl(site) {
      const checked = checkCrawl(site);
      const now = clock.now();
      const { row, queued } = await store.write((tx) => putCrawl(tx, checked, now));
      if (queued) wake?.notify([crawlLane(checked.url)], now);
      return toDocument(row);
    },
    recrawl,
    progress: (documentId) => crawlProgress(store.read, documentId),
    process,
    work: { ingest: workIngest, crawl: workCrawl, recrawl: workRecrawl },
    abandoned,
    isSettled: ({ source, status, crawledAt }) =>
      source === "crawl" ? crawledAt !== null : status === "indexed" || status === "failed",
    laneOf: ({ id, source, url }) => (source === "crawl" && url !== null ? crawlLane(url) : ingestLane(id)),
    resumePending,
    removeOrphans: () => bodies.removeOrphans(),
    list: (workspaceId, filter = {}) => listDocuments(store.read, workspaceId, filter),
    get,
    async ofFiles(workspaceId, fileNames) {
      const rows = await store.read
        .selectFrom("documents")
        .selectAll()
        .where("workspace_id", "=", workspaceId)
        .where("origin_key", "in", fileNames.map(originOf))
        .execute();
      return rows.map(toDocument);
    },
    remove,
  };
}

/** A document that is shown: the pages of a website are not. */
function findRow(
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

async function giveBody(tx: Tx, body: StoredBlob, documentId: string): Promise<void> {
  if (!(await adoptBlob(tx, body.id, documentId))) throw new Error("the bytes of an upload are gone before its end");
}

function typeOf(fileName: string, mediaType?: string): ReadableType {
  const type = readableType(fileName, mediaType);
  if (type !== undefined) return type;
  throw new Problem("unsupported_media_type", `Files of this type cannot be added; ${readableEndings} can.`);
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

const originOf = (fileName: string): string => sha256(`upload\n${fileName}`);

const ingestLane = (documentId: string): string => `ingest:${documentId}`;

async function enqueueIngest(tx: Tx, documentId: string, now: number): Promise<void> {
  await insertWork(tx, [{ lane: ingestLane(documentId), kind: "ingest", payload: { documentId }, dueAt: now }], now);
}

function payloadOf(rows: readonly OutboxRow[]): CrawlWork {
  return JSON.parse(rows[0]?.payload ?? "{}") as CrawlWork;
}

function readable(mediaType: string): ReadableType {
  const type = readableType("", mediaType);
  if (type === undefined) throw new UnreadableDocument(`Files of the type ${mediaType} cannot be read.`);
  return type;
}
