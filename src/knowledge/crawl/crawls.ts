import { newId } from "#domain/ids.ts";
import { Type } from "typebox";
import type { PayloadOf } from "#database/work.ts";
import { workKind } from "#database/work.ts";
import { Problem } from "#domain/problem.ts";
import { audienceTags } from "#domain/workspace/audience.ts";
import { storedSettings } from "#domain/workspace/settings.ts";
import type { Tx } from "#database/contract.ts";
import { insertWork } from "#database/queries/outbox.ts";
import type { DocumentsTable } from "#database/schema/knowledge.ts";
import { changeAudience, documentOfOrigin, findRow, insertDocument, sha256 } from "#knowledge/documents/rows.ts";

export interface NewCrawl {
  readonly workspaceId: string;
  readonly url: string;
  /** Most pages to index, 1 to 1,000. */
  readonly maxPages?: number;
  /** Address of the sitemap, when it is neither in robots.txt nor at /sitemap.xml. */
  readonly sitemap?: string;
  readonly audience?: readonly string[];
}

const maxPagesStandard = 50;
const maxPagesMost = 1_000;
const dayMs = 86_400_000;

/** The address and settings of a crawl in the form in which they are stored. */
export interface CheckedCrawl {
  readonly workspaceId: string;
  readonly url: string;
  readonly maxPages: number;
  readonly sitemap: string | null;
  /** Undefined: unchanged, or public for a new site. */
  readonly audience: string | undefined;
}

/** Throws `Problem` invalid_parameter. */
export function checkCrawl({ workspaceId, url, maxPages, sitemap, audience }: NewCrawl): CheckedCrawl {
  const start = siteUrl("url", url);
  const map = sitemap === undefined ? null : siteUrl("sitemap", sitemap);
  if (map !== null && map.origin !== start.origin) {
    throw new Problem("invalid_parameter", "sitemap has to be an address of the same site as url.");
  }
  const pages = maxPages ?? maxPagesStandard;
  if (!Number.isInteger(pages) || pages < 1 || pages > maxPagesMost) {
    throw new Problem("invalid_parameter", `max_pages is a whole number from 1 to ${maxPagesMost}.`);
  }
  const tags = audience === undefined ? undefined : JSON.stringify(audienceTags(audience));
  return { workspaceId, url: start.href, maxPages: pages, sitemap: map?.href ?? null, audience: tags };
}

function siteUrl(name: string, given: string): URL {
  const url = URL.parse(given.trim());
  if (url === null || (url.protocol !== "https:" && url.protocol !== "http:") || url.href.length > 2_000) {
    throw new Problem("invalid_parameter", `${name} has to be an address that begins with https:// or http://.`);
  }
  if (url.username !== "" || url.password !== "") {
    throw new Problem("invalid_parameter", `${name} may hold no user name and no password.`);
  }
  url.hash = "";
  return url;
}

/** All crawls of a site share a lane: it gets one request at a time, however many processes run. */
export const crawlLane = (url: string): string => `crawl:${sha256(new URL(url).origin).slice(0, 40)}`;
const recrawlLane = (documentId: string): string => `recrawl:${documentId}`;

/** Adds or updates the site, and starts a run. `queued` is false while a run is active, see {@link startRun}. */
export async function putCrawl(
  tx: Tx,
  { workspaceId, url, maxPages, sitemap, audience: given }: CheckedCrawl,
  now: number,
): Promise<{ readonly row: DocumentsTable; readonly queued: boolean; readonly isNew: boolean }> {
  const originKey = sha256(`crawl\n${url}`);
  const inserted = await insertDocument(tx, {
    id: newId("doc", now),
    workspaceId,
    now,
    source: "crawl",
    origin_key: originKey,
    content_hash: null,
    media_type: "text/html",
    url,
    audience: given ?? "[]",
    title: titleOfUrl(url),
    body_id: null,
    parent_id: null,
  });
  const row = inserted ?? (await documentOfOrigin(tx, workspaceId, originKey));
  const audience = given ?? row.audience;
  if (inserted !== undefined) {
    await tx
      .insertInto("crawls")
      .values({
        document_id: row.id,
        max_pages: maxPages,
        sitemap,
        run: 0,
        state: "done",
        fetches: 0,
        bytes: 0,
        discovered: 0,
        robots: null,
        started_at: now,
        finished_at: null,
        requested: 0,
        changed: 0,
      })
      .execute();
  } else {
    await tx.updateTable("crawls").set({ max_pages: maxPages, sitemap }).where("document_id", "=", row.id).execute();
    if (row.audience !== audience) await changeAudience(tx, row, audience, now);
  }
  const queued = await startRun(tx, row.id, url, now);
  return { row: await documentOfOrigin(tx, workspaceId, originKey), queued, isNew: inserted !== undefined };
}

/** Crawls a document's website again. Undefined when there is no such document; throws `Problem` not_a_website for a file. */
export async function restartCrawl(
  tx: Tx,
  workspaceId: string,
  documentId: string,
  now: number,
): Promise<{ readonly url: string; readonly title: string } | undefined> {
  const row = await findRow(tx, workspaceId, documentId);
  if (row === undefined) return undefined;
  const { source, url, title } = row;
  if (source !== "crawl" || url === null) {
    throw new Problem(
      "not_a_website",
      "This document is a file, which is not crawled. Upload the file again to update it.",
    );
  }
  await startRun(tx, row.id, url, now);
  return { url, title };
}

/**
 * False while a run is active: then one more run follows it, however often it was requested. Indexed pages go on
 * answering, and a site with indexed pages keeps its status.
 */
export async function startRun(tx: Tx, documentId: string, url: string, now: number): Promise<boolean> {
  // Locks the row, so that the run cannot end between this statement and the next. A queued run needs no further one.
  await tx
    .updateTable("crawls")
    .set({ requested: 1 })
    .where("document_id", "=", documentId)
    .where("state", "!=", "new")
    .execute();
  const { numUpdatedRows } = await tx
    .updateTable("crawls")
    .set((eb) => ({
      requested: 0,
      changed: 0,
      run: eb("run", "+", 1),
      state: "new",
      fetches: 0,
      bytes: 0,
      robots: null,
      started_at: now,
      finished_at: null,
    }))
    .where("document_id", "=", documentId)
    .where("state", "=", "done")
    .executeTakeFirst();
  if (numUpdatedRows !== 1n) return false;
  const { run } = await tx
    .selectFrom("crawls")
    .select("run")
    .where("document_id", "=", documentId)
    .executeTakeFirstOrThrow();
  await tx
    .updateTable("crawl_pages")
    .set({ state: "queued", reason: null, attempts: 0, canonical_hash: null })
    .where("document_id", "=", documentId)
    .execute();
  await tx.updateTable("documents").set({ crawled_at: null }).where("id", "=", documentId).execute();
  await tx
    .updateTable("documents")
    .set({ status: "pending", error: null })
    .where("id", "=", documentId)
    .where((eb) => eb.or([eb("pages", "=", 0), eb("indexed_at", "is", null)]))
    .execute();
  await enqueueRun(tx, documentId, url, run, now, now);
  return true;
}

/** A run through a website. */
export const crawlKind = workKind("crawl", Type.Object({ documentId: Type.String(), run: Type.Number() }));

export type CrawlWork = PayloadOf<typeof crawlKind>;

/** The regular check whether a website is due for another run. */
export const recrawlKind = workKind("recrawl", Type.Object({ documentId: Type.String() }));

export async function enqueueRun(
  tx: Tx,
  documentId: string,
  url: string,
  run: number,
  dueAt: number,
  now: number,
): Promise<void> {
  await insertWork(tx, [crawlKind.queued(crawlLane(url), { documentId, run }, dueAt)], now);
}

/** Null where the workspace has no automatic crawls. */
async function recrawlAt(tx: Tx, workspaceId: string, finishedAt: number): Promise<number | null> {
  const row = await tx
    .selectFrom("workspaces")
    .select("settings")
    .where("id", "=", workspaceId)
    .where("deleted_at", "is", null)
    .executeTakeFirst();
  if (row === undefined) return null;
  const { recrawlDays } = storedSettings(row.settings);
  return recrawlDays === null ? null : finishedAt + recrawlDays * dayMs;
}

/** The check runs at least once a day, since the setting can change. */
export async function scheduleRecrawl(
  tx: Tx,
  { id, workspace_id: workspaceId }: Pick<DocumentsTable, "id" | "workspace_id">,
  finishedAt: number,
  now: number,
): Promise<void> {
  const at = await recrawlAt(tx, workspaceId, finishedAt);
  await tx.deleteFrom("outbox").where("lane", "=", recrawlLane(id)).execute();
  const dueAt = Math.max(now, Math.min(at ?? Number.POSITIVE_INFINITY, now + dayMs));
  await insertWork(tx, [recrawlKind.queued(recrawlLane(id), { documentId: id }, dueAt)], now);
}

/** Starts a run if one is due, and returns its lane; schedules the next check otherwise. */
export async function recrawlWhenDue(tx: Tx, documentId: string, now: number): Promise<string | undefined> {
  const row = await tx
    .selectFrom("documents")
    .innerJoin("crawls", "crawls.document_id", "documents.id")
    .select(["documents.id", "workspace_id", "url", "state", "finished_at"])
    .where("documents.id", "=", documentId)
    .executeTakeFirst();
  // The end of an active run schedules the next check.
  if (row === undefined || row.url === null || row.state !== "done") return undefined;
  const at = await recrawlAt(tx, row.workspace_id, row.finished_at ?? now);
  if (at !== null && at <= now) {
    await startRun(tx, row.id, row.url, now);
    return crawlLane(row.url);
  }
  await scheduleRecrawl(tx, row, row.finished_at ?? now, now);
  return undefined;
}

/** Removes everything of a site but its document. The row of `crawls` goes first: storing a page locks it. */
export async function removeCrawl(tx: Tx, documentId: string): Promise<void> {
  await tx.deleteFrom("crawls").where("document_id", "=", documentId).execute();
  await tx.deleteFrom("crawl_pages").where("document_id", "=", documentId).execute();
  const pages = tx.selectFrom("documents").select("id").where("parent_id", "=", documentId);
  await tx.deleteFrom("chunks").where("document_id", "in", pages).execute();
  await tx.deleteFrom("documents").where("parent_id", "=", documentId).execute();
  await tx.deleteFrom("outbox").where("lane", "=", recrawlLane(documentId)).execute();
}

/** The title until the first page is indexed. */
function titleOfUrl(url: string): string {
  const { host, pathname } = new URL(url);
  return `${host}${pathname === "/" ? "" : decodePath(pathname)}`.slice(0, 300);
}

function decodePath(path: string): string {
  try {
    return decodeURI(path);
  } catch {
    return path;
  }
}
