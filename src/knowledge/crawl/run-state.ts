import type { Selectable } from "kysely";
import type { Reader, Tx } from "#database/contract.ts";
import type { CrawlPagesTable, CrawlsTable } from "#database/schema/knowledge.ts";
import type { OnSettled } from "#knowledge/documents/rows.ts";
import { raiseKnowledgeVersion, sha256, toDocument } from "#knowledge/documents/rows.ts";
import type { CrawlWork } from "./crawls.ts";
import { scheduleRecrawl, startRun } from "./crawls.ts";
import type { SiteRun } from "./pages.ts";
import { removePage } from "./pages.ts";
import type { Robots } from "./site.ts";

const bytesMax = 250 * 1_048_576;

export interface ClaimedRun extends SiteRun {
  /** Start address: the given one, or the one that it redirects to. */
  readonly url: string;
  readonly crawl: Selectable<CrawlsTable>;
}

export interface ActiveRun extends ClaimedRun {
  readonly robots: Robots;
}

/** Undefined where the run is done, superseded by a later one, or its document was removed. */
export async function claimRun(tx: Tx, { documentId, run }: CrawlWork): Promise<ClaimedRun | undefined> {
  const { numUpdatedRows } = await tx
    .updateTable("crawls")
    .set({ state: "running" })
    .where("document_id", "=", documentId)
    .where("run", "=", run)
    .where("state", "in", ["new", "running"])
    .executeTakeFirst();
  if (numUpdatedRows !== 1n) return undefined;
  await tx
    .updateTable("documents")
    .set({ status: "processing" })
    .where("id", "=", documentId)
    .where("status", "=", "pending")
    .execute();
  const document = await tx.selectFrom("documents").selectAll().where("id", "=", documentId).executeTakeFirst();
  const crawl = await tx
    .selectFrom("crawls")
    .selectAll()
    .where("document_id", "=", documentId)
    .executeTakeFirstOrThrow();
  if (document === undefined || document.url === null) return undefined;
  return { document, crawl, url: crawl.home ?? document.url, run };
}

/** Pages that were indexed before come first, then the rest in the order of discovery. Undefined: the run is complete. */
export async function nextPage(read: Reader, { document, run, url }: ActiveRun): Promise<CrawlPagesTable | undefined> {
  const crawl = await read
    .selectFrom("crawls")
    .selectAll()
    .where("document_id", "=", document.id)
    .where("run", "=", run)
    .executeTakeFirst();
  if (crawl === undefined) return undefined;
  if (crawl.bytes >= bytesMax || crawl.fetches >= crawl.max_pages * 3 + 50) return undefined;
  const { kept } = await read
    .selectFrom("crawl_pages")
    .select((eb) => eb.fn.countAll().as("kept"))
    .where("document_id", "=", document.id)
    .where("state", "=", "kept")
    .executeTakeFirstOrThrow();
  if (Number(kept) >= crawl.max_pages) return undefined;
  const first = read
    .selectFrom("crawl_pages")
    .selectAll()
    .where("document_id", "=", document.id)
    .where("state", "=", "queued")
    .orderBy("position")
    .limit(1);
  return (
    (await first.where("url_hash", "=", sha256(url)).executeTakeFirst()) ??
    (await first.where("page_id", "is not", null).executeTakeFirst()) ??
    (await first.executeTakeFirst())
  );
}

/**
 * Restarts the run at the address that the start address redirects to (with `www`, or over TLS), with the robots.txt
 * of that address. False where the run is no longer active.
 */
export async function moveHome(tx: Tx, { document, run, url }: ActiveRun, home: string): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable("crawls")
    .set((eb) => ({ home, robots: null, fetches: eb("fetches", "+", 1) }))
    .where("document_id", "=", document.id)
    .where("run", "=", run)
    .where("state", "=", "running")
    .executeTakeFirst();
  if (numUpdatedRows !== 1n) return false;
  await tx
    .updateTable("crawl_pages")
    .set({ state: "skipped", reason: `it leads to ${home}` })
    .where("document_id", "=", document.id)
    .where("url_hash", "=", sha256(url))
    .where("page_id", "is", null)
    .execute();
  return true;
}

/** Ends a run without pages; does nothing where the run is no longer active. */
export async function failRun(
  tx: Tx,
  { documentId, run }: CrawlWork,
  error: string,
  now: number,
  onSettled?: OnSettled,
): Promise<void> {
  if (await closeRun(tx, documentId, run, now)) await settleSite(tx, documentId, { error }, now, onSettled);
}

export async function finishRun(tx: Tx, site: ActiveRun, now: number, onSettled?: OnSettled): Promise<void> {
  const { document, run } = site;
  if (!(await closeRun(tx, document.id, run, now))) return;
  const pages = await tx
    .selectFrom("crawl_pages")
    .select(["page_id", "state", "reason", "url"])
    .where("document_id", "=", document.id)
    .where((eb) => eb.or([eb("state", "!=", "queued"), eb("page_id", "is not", null)]))
    .orderBy("position")
    .execute();
  const kept = pages.filter(({ state }) => state === "kept");
  if (kept.length >= site.crawl.max_pages) {
    // The limit was lowered since an earlier run.
    for (const { page_id: pageId, state } of pages) if (state === "queued") await removePage(tx, site, pageId, now);
  }
  const start = pages.find(({ url }) => url === site.url);
  if (kept.length === 0) {
    const failed = pages.find(({ state }) => state === "failed" || state === "gone");
    const reason = failed?.reason ?? start?.reason ?? "no page of it holds text";
    await settleSite(tx, document.id, { error: `The website could not be read: ${reason}.` }, now, onSettled);
    return;
  }
  const titlePage = (start?.state === "kept" ? start : kept[0])?.page_id ?? null;
  const title =
    titlePage === null
      ? undefined
      : await tx.selectFrom("documents").select("title").where("id", "=", titlePage).executeTakeFirst();
  await settleSite(tx, document.id, { error: null, ...title }, now, onSettled);
}

async function closeRun(tx: Tx, documentId: string, run: number, now: number): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable("crawls")
    .set({ state: "done", finished_at: now })
    .where("document_id", "=", documentId)
    .where("run", "=", run)
    .where("state", "!=", "done")
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

/**
 * Updates the site's document at the end of a run. A run without changes keeps `indexed_at` and emits no event; after a
 * failed run the pages of earlier runs go on answering. Starts the next run if one was requested meanwhile.
 */
async function settleSite(
  tx: Tx,
  id: string,
  { error, title }: { readonly error: string | null; readonly title?: string },
  now: number,
  onSettled: OnSettled | undefined,
): Promise<void> {
  const before = await tx.selectFrom("documents").selectAll().where("id", "=", id).executeTakeFirstOrThrow();
  const { requested, changed } = await tx
    .selectFrom("crawls")
    .select(["requested", "changed"])
    .where("document_id", "=", id)
    .executeTakeFirstOrThrow();
  const hasPages = before.pages > 0 && before.indexed_at !== null;
  const isChanged = error === null && (changed === 1 || before.status !== "indexed");
  const after = {
    status: error === null || hasPages ? "indexed" : "failed",
    error,
    crawled_at: now,
    ...(isChanged ? { indexed_at: now } : {}),
    ...(title === undefined || before.own_title === 1 ? {} : { title }),
  } as const;
  await tx.updateTable("documents").set(after).where("id", "=", id).execute();
  await scheduleRecrawl(tx, before, now, now);
  if (isChanged || error !== null) {
    await raiseKnowledgeVersion(tx, before.workspace_id, now);
    await onSettled?.(tx, toDocument({ ...before, ...after }));
  }
  if (requested === 1 && before.url !== null) await startRun(tx, id, before.url, now);
}
