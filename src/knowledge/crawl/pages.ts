import { newId } from "#domain/ids.ts";
import type { Store, Tx } from "#database/contract.ts";
import { dialectOf } from "#database/dialects/dialect.ts";
import type { CrawlPagesTable, DocumentsTable } from "#database/schema/knowledge.ts";
import { insertDocument, raiseKnowledgeVersion, replaceChunks, sha256 } from "#knowledge/documents/rows.ts";
import type { ReadDocument } from "#knowledge/parse/jobs.ts";

/** Limit of addresses per site. */
export const discoveredMax = 10_000;
const insertedRowsMax = 200;

/** A run of a site's crawl; a later run has a higher number. */
export interface SiteRun {
  readonly document: DocumentsTable;
  readonly run: number;
}

export type VisitResult =
  | {
      readonly kind: "kept";
      readonly textHash: string;
      readonly document: ReadDocument;
      readonly etag: string | null;
      readonly lastModified: string | null;
      readonly fetchedHash: string;
    }
  /** The content did not change; its validators may have. */
  | { readonly kind: "unchanged"; readonly etag?: string | null; readonly lastModified?: string | null }
  | { readonly kind: "skipped" | "gone"; readonly reason: string; readonly canonical?: string }
  /** The page's passages stay. */
  | { readonly kind: "failed"; readonly reason: string }
  | { readonly kind: "retry"; readonly reason: string };

export interface Visit {
  readonly page: CrawlPagesTable;
  readonly result: VisitResult;
  /** Addresses found on the page; known ones are ignored. */
  readonly links: readonly string[];
  readonly bytes: number;
}

/** Locks the crawl's row. False when the site was removed or a later run has begun. */
async function lockRun(tx: Tx, { document, run }: SiteRun, fetches: number, bytes: number): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable("crawls")
    .set((eb) => ({ fetches: eb("fetches", "+", fetches), bytes: eb("bytes", "+", bytes) }))
    .where("document_id", "=", document.id)
    .where("run", "=", run)
    .where("state", "=", "running")
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

/** The addresses that are not in the site's list yet. */
export async function unknownAddresses(store: Store, site: SiteRun, urls: readonly string[]): Promise<string[]> {
  const byHash = new Map(urls.map((url) => [sha256(url), url]));
  const hashes = [...byHash.keys()];
  for (let first = 0; first < hashes.length; first += 500) {
    const rows = await store.read
      .selectFrom("crawl_pages")
      .select("url_hash")
      .where("document_id", "=", site.document.id)
      .where("url_hash", "in", hashes.slice(first, first + 500))
      .execute();
    for (const { url_hash: hash } of rows) byHash.delete(hash);
  }
  return [...byHash.values()];
}

/** Appends addresses to the queue. False where the run is no longer active. */
export async function addAddresses(store: Store, site: SiteRun, urls: readonly string[]): Promise<boolean> {
  return store.write(async (tx) => {
    if (!(await lockRun(tx, site, 0, 0))) return false;
    await insertAddresses(tx, site, urls);
    return true;
  });
}

async function insertAddresses(tx: Tx, { document }: SiteRun, urls: readonly string[]): Promise<void> {
  if (urls.length === 0) return;
  const { discovered } = await tx
    .selectFrom("crawls")
    .select("discovered")
    .where("document_id", "=", document.id)
    .executeTakeFirstOrThrow();
  const taken = urls.slice(0, Math.max(0, discoveredMax - discovered));
  if (taken.length === 0) return;
  for (let first = 0; first < taken.length; first += insertedRowsMax) {
    const rows = taken.slice(first, first + insertedRowsMax).map((url, index) => ({
      document_id: document.id,
      url_hash: sha256(url),
      url,
      position: discovered + first + index,
      page_id: null,
      state: "queued" as const,
      reason: null,
      note: null,
      attempts: 0,
      etag: null,
      last_modified: null,
      fetched_hash: null,
      canonical_hash: null,
    }));
    const insert = tx.insertInto("crawl_pages").values(rows);
    const unlessThere =
      dialectOf(tx) === "mysql" ? insert.ignore() : insert.onConflict((conflict) => conflict.doNothing());
    await unlessThere.execute();
  }
  await tx
    .updateTable("crawls")
    .set({ discovered: discovered + taken.length })
    .where("document_id", "=", document.id)
    .execute();
}

/**
 * Stores the page's state, its passages and its links in one transaction. False where the run is no longer active:
 * nothing is stored.
 */
export async function storeVisit(store: Store, site: SiteRun, visit: Visit, now: number): Promise<boolean> {
  return store.write(async (tx) => {
    if (!(await lockRun(tx, site, 1, visit.bytes))) return false;
    await insertAddresses(tx, site, visit.links);
    const change = await applyResult(tx, site, visit, now);
    await tx
      .updateTable("crawl_pages")
      .set(change)
      .where("document_id", "=", site.document.id)
      .where("url_hash", "=", visit.page.url_hash)
      .execute();
    if (change.state !== "kept" && change.state !== "queued") await requeueSkipped(tx, site, visit.page.url_hash);
    return true;
  });
}

async function applyResult(
  tx: Tx,
  site: SiteRun,
  { page, result }: Visit,
  now: number,
): Promise<Partial<CrawlPagesTable> & Pick<CrawlPagesTable, "state">> {
  switch (result.kind) {
    case "kept": {
      const { etag, lastModified, fetchedHash } = result;
      const twin = await twinOf(tx, site, page, result.textHash);
      if (twin !== undefined) {
        await removePage(tx, site, page.page_id, now);
        return { state: "skipped", reason: `it says the same as ${twin}`, note: null, page_id: null };
      }
      const id = await keepPage(tx, site, page, result, now);
      const { note } = result.document;
      const validators = { etag, last_modified: lastModified, fetched_hash: fetchedHash };
      return { state: "kept", reason: null, note, page_id: id, ...validators };
    }
    case "unchanged":
      return {
        state: "kept",
        reason: null,
        ...(result.etag === undefined ? {} : { etag: result.etag }),
        ...(result.lastModified === undefined ? {} : { last_modified: result.lastModified }),
      };
    case "skipped":
    case "gone":
      await removePage(tx, site, page.page_id, now);
      return {
        state: result.kind,
        reason: result.reason,
        note: null,
        page_id: null,
        etag: null,
        last_modified: null,
        fetched_hash: null,
        canonical_hash: result.canonical === undefined ? null : sha256(result.canonical),
      };
    case "failed":
      return { state: "failed", reason: result.reason };
    case "retry": {
      // At the end of the queue.
      const last = await tx
        .selectFrom("crawl_pages")
        .select((eb) => eb.fn.max("position").as("position"))
        .where("document_id", "=", site.document.id)
        .executeTakeFirst();
      return {
        state: "queued",
        reason: result.reason,
        attempts: page.attempts + 1,
        position: (last?.position ?? 0) + 1,
      };
    }
  }
}

/** The address of another page of the site with the same text, if there is one. */
async function twinOf(tx: Tx, site: SiteRun, page: CrawlPagesTable, textHash: string): Promise<string | undefined> {
  let query = tx
    .selectFrom("documents")
    .select("url")
    .where("parent_id", "=", site.document.id)
    .where("content_hash", "=", textHash);
  if (page.page_id !== null) query = query.where("id", "!=", page.page_id);
  const row = await query.limit(1).executeTakeFirst();
  return row?.url ?? undefined;
}

/** Returns the id of the page's document. Passages are written only where the text or the title changed. */
async function keepPage(
  tx: Tx,
  site: SiteRun,
  page: CrawlPagesTable,
  { textHash, document: { title, chunks } }: VisitResult & { readonly kind: "kept" },
  now: number,
): Promise<string> {
  const { id: siteId, workspace_id: workspaceId } = site.document;
  // The site's audience can have changed since the run began.
  const { audience } = await tx
    .selectFrom("documents")
    .select("audience")
    .where("id", "=", siteId)
    .executeTakeFirstOrThrow();
  const id = page.page_id ?? newId("doc", now);
  const before = await tx
    .selectFrom("documents")
    .select(["content_hash", "indexed_version", "title"])
    .where("id", "=", id)
    .executeTakeFirst();
  if (before?.content_hash === textHash && before.title === title) return id;
  if (before === undefined) {
    await insertDocument(tx, {
      id,
      workspaceId,
      now,
      source: "crawl",
      origin_key: sha256(`page\n${siteId}\n${page.url}`),
      content_hash: textHash,
      media_type: "text/html",
      url: page.url,
      audience,
      title,
      body_id: null,
      parent_id: siteId,
    });
  }
  const version = (before?.indexed_version ?? 0) + 1;
  await replaceChunks(tx, { id, workspace_id: workspaceId, url: page.url }, version, chunks, now);
  await tx
    .updateTable("documents")
    .set({
      title,
      content_hash: textHash,
      status: "indexed",
      error: null,
      chunks: chunks.length,
      pages: 1,
      indexed_version: version,
      indexed_at: now,
    })
    .where("id", "=", id)
    .execute();
  await noteChange(tx, site, now);
  return id;
}

export async function removePage(tx: Tx, site: SiteRun, pageId: string | null, now: number): Promise<void> {
  if (pageId === null) return;
  await tx.deleteFrom("chunks").where("document_id", "=", pageId).execute();
  await tx.deleteFrom("documents").where("id", "=", pageId).execute();
  await noteChange(tx, site, now);
}

async function noteChange(
  tx: Tx,
  { document: { id, workspace_id: workspaceId } }: SiteRun,
  now: number,
): Promise<void> {
  await raiseKnowledgeVersion(tx, workspaceId, now);
  await tx.updateTable("crawls").set({ changed: 1 }).where("document_id", "=", id).execute();
  await countPages(tx, id);
}

async function countPages(tx: Tx, siteId: string): Promise<void> {
  const { pages, chunks } = await tx
    .selectFrom("documents")
    .select((eb) => [eb.fn.countAll().as("pages"), eb.fn.sum("chunks").as("chunks")])
    .where("parent_id", "=", siteId)
    .executeTakeFirstOrThrow();
  await tx
    .updateTable("documents")
    .set({ pages: Number(pages), chunks: Number(chunks ?? 0) })
    .where("id", "=", siteId)
    .execute();
}

/** Queues the pages again that were skipped because this page, which is not indexed after all, is their canonical address. */
async function requeueSkipped(tx: Tx, { document }: SiteRun, urlHash: string): Promise<void> {
  await tx
    .updateTable("crawl_pages")
    .set({ state: "queued", reason: null })
    .where("document_id", "=", document.id)
    .where("state", "=", "skipped")
    .where("canonical_hash", "=", urlHash)
    .execute();
}
