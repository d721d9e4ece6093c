import { newId } from "#domain/ids.ts";
import { Problem } from "#domain/problem.ts";
import { audienceTags } from "#domain/workspace/audience.ts";
import { storedSettings } from "#domain/workspace/settings.ts";
import type { Tx } from "#database/contract.ts";
import { insertWork } from "#database/queries/outbox.ts";
import type { DocumentsTable } from "#database/schema/knowledge.ts";
import { documentOfOrigin, insertDocument, raiseKnowledgeVersion, sha256 } from "#knowledge/documents/rows.ts";

export interface NewCrawl {
  readonly workspaceId: string;
  readonly url: string;
  /** Pages that are kept, 1 to 1,000. */
  readonly maxPages?: number;
  /** Where the site's sitemap is, when robots.txt does not say it and it is not at /sitemap.xml. */
  readonly sitemap?: string;
  readonly audience?: readonly string[];
}

const maxPagesStandard = 50;
const maxPagesMost = 1_000;
const dayMs = 86_400_000;

/** A crawl's address and settings as they are stored; throws `Problem` for those that cannot be. */
export interface CheckedCrawl {
  readonly workspaceId: string;
  readonly url: string;
  readonly maxPages: number;
  readonly sitemap: string | null;
  /** Undefined: as it was, or for everybody. */
  readonly audience: string | undefined;
}

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

/** All crawls of a site share a lane, so that it never has two requests at a time, whatever the processes. */
export const crawlLane = (url: string): string => `crawl:${sha256(new URL(url).origin).slice(0, 40)}`;
const recrawlLane = (documentId: string): string => `recrawl:${documentId}`;

/** Adds the site, or updates it in place and goes through it again. */
export async function putCrawl(
  tx: Tx,
  { workspaceId, url, maxPages, sitemap, audience: given }: CheckedCrawl,
  now: number,
): Promise<{ readonly row: DocumentsTable; readonly queued: boolean }> {
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
  return { row: await documentOfOrigin(tx, workspaceId, originKey), queued };
}

/** Who may see a site holds at once for all its pages. */
async function changeAudience(tx: Tx, row: DocumentsTable, audience: string, now: number): Promise<void> {
  await tx
    .updateTable("documents")
    .set({ audience })
    .where((eb) => eb.or([eb("id", "=", row.id), eb("parent_id", "=", row.id)]))
    .execute();
  await raiseKnowledgeVersion(tx, row.workspace_id, now);
}

/**
 * False while the site is being crawled: then it is crawled once more afterwards, however often that was requested. The
 * pages that there are go on answering, and the site keeps its status while any do.
 */
export async function startRun(tx: Tx, documentId: string, url: string, now: number): Promise<boolean> {
  // Holds the row, so that the run cannot end between this statement and the next one. A run that has not begun will do.
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

export interface CrawlWork {
  readonly documentId: string;
  readonly run: number;
}

export async function enqueueRun(
  tx: Tx,
  documentId: string,
  url: string,
  run: number,
  dueAt: number,
  now: number,
): Promise<void> {
  await insertWork(tx, [{ lane: crawlLane(url), kind: "crawl", payload: { documentId, run }, dueAt }], now);
}

/** When the workspace wants the site looked at again; null: never. */
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

/** Looks at least once a day whether it is time, since the setting can change meanwhile. */
export async function scheduleRecrawl(
  tx: Tx,
  { id, workspace_id: workspaceId }: Pick<DocumentsTable, "id" | "workspace_id">,
  finishedAt: number,
  now: number,
): Promise<void> {
  const at = await recrawlAt(tx, workspaceId, finishedAt);
  await tx.deleteFrom("outbox").where("lane", "=", recrawlLane(id)).execute();
  const dueAt = Math.max(now, Math.min(at ?? Number.POSITIVE_INFINITY, now + dayMs));
  await insertWork(tx, [{ lane: recrawlLane(id), kind: "recrawl", payload: { documentId: id }, dueAt }], now);
}

/** The scheduled look at a site; true when it begins to be gone through. Does nothing where the site is gone. */
export async function recrawlWhenDue(tx: Tx, documentId: string, now: number): Promise<string | undefined> {
  const row = await tx
    .selectFrom("documents")
    .innerJoin("crawls", "crawls.document_id", "documents.id")
    .select(["documents.id", "workspace_id", "url", "state", "finished_at"])
    .where("documents.id", "=", documentId)
    .executeTakeFirst();
  // While it is being gone through there is nothing to schedule: its end does.
  if (row === undefined || row.url === null || row.state !== "done") return undefined;
  const at = await recrawlAt(tx, row.workspace_id, row.finished_at ?? now);
  if (at !== null && at <= now) {
    await startRun(tx, row.id, row.url, now);
    return crawlLane(row.url);
  }
  await scheduleRecrawl(tx, row, row.finished_at ?? now, now);
  return undefined;
}

/** Everything of a site but its own row. The row of `crawls` goes first: whoever stores a page holds on to that. */
export async function removeCrawl(tx: Tx, documentId: string): Promise<void> {
  await tx.deleteFrom("crawls").where("document_id", "=", documentId).execute();
  await tx.deleteFrom("crawl_pages").where("document_id", "=", documentId).execute();
  const pages = tx.selectFrom("documents").select("id").where("parent_id", "=", documentId);
  await tx.deleteFrom("chunks").where("document_id", "in", pages).execute();
  await tx.deleteFrom("documents").where("parent_id", "=", documentId).execute();
  await tx.deleteFrom("outbox").where("lane", "=", recrawlLane(documentId)).execute();
}

/** What it is called until its first page has named it. */
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
