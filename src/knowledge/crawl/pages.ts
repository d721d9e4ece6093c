import { newId } from "#domain/ids.ts";
import type { Store, Tx } from "#database/contract.ts";
import { dialectOf } from "#database/dialects/dialect.ts";
import type { CrawlPagesTable, DocumentsTable } from "#database/schema/knowledge.ts";
import { insertDocument, raiseKnowledgeVersion, replaceChunks, sha256 } from "#knowledge/documents/rows.ts";
import type { ReadDocument } from "#knowledge/parse/parse-in-worker.ts";

/** Addresses that are remembered of one site. */
export const discoveredMax = 10_000;
const insertedRowsMax = 200;

/** The site whose page it is, in the run that it was fetched in. */
export interface Site {
  readonly document: DocumentsTable;
  readonly run: number;
}

/** What became of an address. */
export type Outcome =
  | {
      readonly kind: "kept";
      readonly textHash: string;
      readonly document: ReadDocument;
      readonly etag: string | null;
      readonly lastModified: string | null;
      readonly fetchedHash: string;
    }
  /** It is as it was; its validators may be new. */
  | { readonly kind: "unchanged"; readonly etag?: string | null; readonly lastModified?: string | null }
  | { readonly kind: "skipped" | "gone"; readonly reason: string; readonly canonical?: string }
  /** What there was of it stays. */
  | { readonly kind: "failed"; readonly reason: string }
  | { readonly kind: "again"; readonly reason: string };

export interface Visit {
  readonly page: CrawlPagesTable;
  readonly outcome: Outcome;
  /** Addresses that were found on it, which may be known already. */
  readonly links: readonly string[];
  readonly bytes: number;
}

/** Takes hold of the site's row; false when the site is gone, or is gone through anew. */
async function hold(tx: Tx, { document, run }: Site, fetches: number, bytes: number): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable("crawls")
    .set((eb) => ({ fetches: eb("fetches", "+", fetches), bytes: eb("bytes", "+", bytes) }))
    .where("document_id", "=", document.id)
    .where("run", "=", run)
    .where("state", "=", "running")
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

/** Addresses that the site is not known to have. */
export async function unknownAddresses(store: Store, site: Site, urls: readonly string[]): Promise<string[]> {
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

/** Puts addresses at the end of the queue. */
export async function addAddresses(store: Store, site: Site, urls: readonly string[]): Promise<boolean> {
  return store.write(async (tx) => {
    if (!(await hold(tx, site, 0, 0))) return false;
    await insertAddresses(tx, site, urls);
    return true;
  });
}

async function insertAddresses(tx: Tx, { document }: Site, urls: readonly string[]): Promise<void> {
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

/** Stores what a visit gave, at once: the page's state, its passages, and where it leads. False: it is void. */
export async function storeVisit(store: Store, site: Site, visit: Visit, now: number): Promise<boolean> {
  return store.write(async (tx) => {
    if (!(await hold(tx, site, 1, visit.bytes))) return false;
    await insertAddresses(tx, site, visit.links);
    const change = await settle(tx, site, visit, now);
    await tx
      .updateTable("crawl_pages")
      .set(change)
      .where("document_id", "=", site.document.id)
      .where("url_hash", "=", visit.page.url_hash)
      .execute();
    if (change.state !== "kept" && change.state !== "queued") await wakeOthers(tx, site, visit.page.url_hash);
    return true;
  });
}

async function settle(
  tx: Tx,
  site: Site,
  { page, outcome }: Visit,
  now: number,
): Promise<Partial<CrawlPagesTable> & Pick<CrawlPagesTable, "state">> {
  switch (outcome.kind) {
    case "kept": {
      const { etag, lastModified, fetchedHash } = outcome;
      const twin = await twinOf(tx, site, page, outcome.textHash);
      if (twin !== undefined) {
        await removePage(tx, site, page.page_id, now);
        return { state: "skipped", reason: `it says the same as ${twin}`, page_id: null };
      }
      const id = await keepPage(tx, site, page, outcome, now);
      return { state: "kept", reason: null, page_id: id, etag, last_modified: lastModified, fetched_hash: fetchedHash };
    }
    case "unchanged":
      return {
        state: "kept",
        reason: null,
        ...(outcome.etag === undefined ? {} : { etag: outcome.etag }),
        ...(outcome.lastModified === undefined ? {} : { last_modified: outcome.lastModified }),
      };
    case "skipped":
    case "gone":
      await removePage(tx, site, page.page_id, now);
      return {
        state: outcome.kind,
        reason: outcome.reason,
        page_id: null,
        etag: null,
        last_modified: null,
        fetched_hash: null,
        canonical_hash: outcome.canonical === undefined ? null : sha256(outcome.canonical),
      };
    case "failed":
      return { state: "failed", reason: outcome.reason };
    case "again": {
      // At the end of the queue, as the last that was found.
      const last = await tx
        .selectFrom("crawl_pages")
        .select((eb) => eb.fn.max("position").as("position"))
        .where("document_id", "=", site.document.id)
        .executeTakeFirst();
      return {
        state: "queued",
        reason: outcome.reason,
        attempts: page.attempts + 1,
        position: (last?.position ?? 0) + 1,
      };
    }
  }
}

/** The address of another page of the site with the same text. */
async function twinOf(tx: Tx, site: Site, page: CrawlPagesTable, textHash: string): Promise<string | undefined> {
  let query = tx
    .selectFrom("documents")
    .select("url")
    .where("parent_id", "=", site.document.id)
    .where("content_hash", "=", textHash);
  if (page.page_id !== null) query = query.where("id", "!=", page.page_id);
  const row = await query.limit(1).executeTakeFirst();
  return row?.url ?? undefined;
}

/** The id of the page's document; its passages are written only where its text is another than before. */
async function keepPage(
  tx: Tx,
  site: Site,
  page: CrawlPagesTable,
  { textHash, document: { title, chunks } }: Outcome & { readonly kind: "kept" },
  now: number,
): Promise<string> {
  const { id: siteId, workspace_id: workspaceId } = site.document;
  // Who may see the site can have changed since the run began.
  const { audience } = await tx
    .selectFrom("documents")
    .select("audience")
    .where("id", "=", siteId)
    .executeTakeFirstOrThrow();
  const id = page.page_id ?? newId("doc", now);
  const known = await tx
    .selectFrom("documents")
    .select(["content_hash", "indexed_version", "title"])
    .where("id", "=", id)
    .executeTakeFirst();
  if (known?.content_hash === textHash && known.title === title) return id;
  if (known === undefined) {
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
  const version = (known?.indexed_version ?? 0) + 1;
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

export async function removePage(tx: Tx, site: Site, pageId: string | null, now: number): Promise<void> {
  if (pageId === null) return;
  await tx.deleteFrom("chunks").where("document_id", "=", pageId).execute();
  await tx.deleteFrom("documents").where("id", "=", pageId).execute();
  await noteChange(tx, site, now);
}

async function noteChange(tx: Tx, { document: { id, workspace_id: workspaceId } }: Site, now: number): Promise<void> {
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

/** Pages that were left out in favour of this one are looked at again when it is not kept itself. */
async function wakeOthers(tx: Tx, { document }: Site, urlHash: string): Promise<void> {
  await tx
    .updateTable("crawl_pages")
    .set({ state: "queued", reason: null })
    .where("document_id", "=", document.id)
    .where("state", "=", "skipped")
    .where("canonical_hash", "=", urlHash)
    .execute();
}
