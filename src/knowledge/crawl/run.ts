import type { Selectable } from "kysely";
import type { Clock } from "#runtime/clock.ts";
import type { Log } from "#runtime/log.ts";
import type { Store, Tx } from "#database/contract.ts";
import type { CrawlPagesTable, CrawlsTable } from "#database/schema/knowledge.ts";
import { UnreadableDocument } from "#knowledge/documents/blocks.ts";
import type { Document } from "#knowledge/documents/rows.ts";
import { raiseKnowledgeVersion, sha256, toDocument } from "#knowledge/documents/rows.ts";
import { robotRules } from "#knowledge/parse/page-head.ts";
import { pageUrl } from "./page-url.ts";
import { parsePageInWorker, parseSitemapInWorker } from "#knowledge/parse/parse-in-worker.ts";
import type { CrawlWork } from "./crawls.ts";
import { scheduleRecrawl, startRun } from "./crawls.ts";
import { pageType } from "./page-type.ts";
import type { Outcome, Site } from "./pages.ts";
import { addAddresses, discoveredMax, removePage, storeVisit, unknownAddresses } from "./pages.ts";
import type { Robots, Sites } from "./site.ts";
import { atHome, isSameSite } from "./same-site.ts";
import { readRobots } from "./site.ts";

export interface CrawlerOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly sites: Sites;
  /** Called in the transaction that ends a run. */
  readonly onSettled?: (tx: Tx, document: Document) => Promise<void>;
}

/** `dueAt`: when to go on with the run; null: nothing is left of it. */
export interface SliceEnd {
  readonly dueAt: number | null;
}

const sliceVisitsMax = 20;
const sliceMs = 60_000;
const attemptsMax = 3;
const bytesMax = 250 * 1_048_576;
const sitemapsMax = 20;
const retryMs = [2_000, 10_000];

interface Run extends Site {
  readonly url: string;
  readonly crawl: Selectable<CrawlsTable>;
  readonly robots: Robots;
}

/** Goes through websites a slice at a time, so that no site keeps others waiting, and what is done is done for good. */
export function createCrawler({ store, clock, log, sites, onSettled }: CrawlerOptions) {
  return { slice, abandon };

  async function slice({ documentId, run }: CrawlWork, signal: AbortSignal): Promise<SliceEnd> {
    const begun = await begin(documentId, run, signal);
    if (begun === undefined) return { dueAt: null };
    const until = clock.now() + sliceMs;
    for (let visits = 0; visits < sliceVisitsMax && clock.now() < until; visits += 1) {
      signal.throwIfAborted();
      const page = await nextPage(begun);
      if (page === undefined) {
        await finish(begun);
        return { dueAt: null };
      }
      const visited = await visit(begun, page, signal);
      if (visited === "void") return { dueAt: null };
      if (visited !== undefined) return { dueAt: clock.now() + visited.pauseMs };
    }
    return { dueAt: clock.now() };
  }

  /** Ends a run whose work was given up, if it is the one under way. */
  async function abandon({ documentId, run }: CrawlWork, tx: Tx, error: string): Promise<void> {
    if (await close(tx, documentId, run, clock.now())) await end(tx, documentId, clock.now(), error);
  }

  /** The run with its rules; undefined where there is nothing to do, or no more. */
  async function begin(documentId: string, run: number, signal: AbortSignal): Promise<Run | undefined> {
    const site = await store.write(async (tx) => {
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
    });
    if (site === undefined) return undefined;
    const { origin } = new URL(site.url);
    if (site.crawl.robots !== null) return { ...site, robots: readRobots(origin, site.crawl.robots) };
    const rules = await readRules(origin, signal);
    if ("reason" in rules) {
      await fail(site, rules.reason);
      return undefined;
    }
    const robots = readRobots(origin, rules.text);
    if (!(await addAddresses(store, site, await unknownAddresses(store, site, [site.url])))) return undefined;
    const listed = await sitemapPages({ ...site, robots }, signal);
    if (!(await addAddresses(store, site, await unknownAddresses(store, site, listed)))) return undefined;
    // Last, so that whatever breaks off before is begun again.
    await store.write((tx) =>
      tx
        .updateTable("crawls")
        .set({ robots: rules.text })
        .where("document_id", "=", documentId)
        .where("run", "=", run)
        .execute(),
    );
    return { ...site, robots };
  }

  async function readRules(origin: string, signal: AbortSignal) {
    for (const ms of retryMs) {
      const answer = await sites.robots(origin, signal);
      if (!("reason" in answer) || !answer.again) return answer;
      await sites.wait(ms, signal);
    }
    return sites.robots(origin, signal);
  }

  /** Pages below the address that was given come first. */
  async function sitemapPages({ url, crawl, robots }: Run, signal: AbortSignal): Promise<string[]> {
    const { origin, href } = new URL("./", url);
    const queue = crawl.sitemap !== null ? [atHome(crawl.sitemap, url)] : [...robots.sitemaps, `${origin}/sitemap.xml`];
    const seen = new Set<string>();
    const pages = new Set<string>();
    for (let map = queue.shift(); map !== undefined && seen.size < sitemapsMax; map = queue.shift()) {
      const address = URL.parse(map, url);
      if (address === null || address.origin !== origin || seen.has(address.href)) continue;
      seen.add(address.href);
      const bytes = await sites.sitemap(address.href, robots, signal);
      if (bytes === undefined) continue;
      try {
        const found = await parseSitemapInWorker(bytes, signal);
        for (const each of found.pages) {
          const page = pageUrl(each, url);
          if (page !== null && new URL(page).origin === origin && robots.allows(page)) pages.add(page);
        }
        queue.push(...found.sitemaps);
      } catch (error) {
        if (!(error instanceof UnreadableDocument)) throw error;
        log.info({ sitemap: address.href, reason: error.message }, "crawl: reading a sitemap failed");
      }
      if (pages.size >= discoveredMax) break;
    }
    const below = [...pages].filter((page) => page.startsWith(href));
    return [...new Set([...below, ...pages])];
  }

  /** What was kept before goes first, then what was found first. Undefined: the run is at its end. */
  async function nextPage({ document, run, url }: Run): Promise<CrawlPagesTable | undefined> {
    const crawl = await store.read
      .selectFrom("crawls")
      .selectAll()
      .where("document_id", "=", document.id)
      .where("run", "=", run)
      .executeTakeFirst();
    if (crawl === undefined) return undefined;
    if (crawl.bytes >= bytesMax || crawl.fetches >= crawl.max_pages * 3 + 50) return undefined;
    const { kept } = await store.read
      .selectFrom("crawl_pages")
      .select((eb) => eb.fn.countAll().as("kept"))
      .where("document_id", "=", document.id)
      .where("state", "=", "kept")
      .executeTakeFirstOrThrow();
    if (Number(kept) >= crawl.max_pages) return undefined;
    const queued = store.read
      .selectFrom("crawl_pages")
      .selectAll()
      .where("document_id", "=", document.id)
      .where("state", "=", "queued");
    const first = queued.orderBy("position").limit(1);
    return (
      (await first.where("url_hash", "=", sha256(url)).executeTakeFirst()) ??
      (await first.where("page_id", "is not", null).executeTakeFirst()) ??
      (await first.executeTakeFirst())
    );
  }

  /** Undefined: done. `pauseMs`: the site asks for a rest. `void`: the site is gone. */
  async function visit(
    site: Run,
    page: CrawlPagesTable,
    signal: AbortSignal,
  ): Promise<undefined | "void" | { readonly pauseMs: number }> {
    const known = page.page_id === null ? null : { etag: page.etag, lastModified: page.last_modified };
    const fetched = await sites.page(page.url, known ?? { etag: null, lastModified: null }, site.robots, signal);
    let pauseMs = 0;
    let links: readonly string[] = [];
    let bytes = 0;
    let outcome: Outcome;
    switch (fetched.kind) {
      case "unchanged":
        outcome =
          known === null ? { kind: "failed", reason: "the site answers with status 304" } : { kind: "unchanged" };
        break;
      case "gone":
        outcome = { kind: "gone", reason: fetched.reason };
        break;
      case "refused":
        outcome = { kind: "skipped", reason: fetched.reason };
        break;
      case "elsewhere":
        if (page.url === site.url && isSameSite(page.url, fetched.url)) return moveHome(site, fetched.url);
        outcome = { kind: "skipped", reason: fetched.reason };
        break;
      case "failed": {
        const again = fetched.again && page.attempts + 1 < attemptsMax;
        outcome = { kind: again ? "again" : "failed", reason: fetched.reason };
        if (again) pauseMs = fetched.pauseMs ?? retryMs[page.attempts] ?? 0;
        break;
      }
      case "page": {
        bytes = fetched.response.body.byteLength;
        ({ outcome, links } = await read(site, page, fetched.url, fetched.response, signal));
        break;
      }
    }
    const stored = await storeVisit(store, site, { page, outcome, links, bytes }, clock.now());
    if (!stored) return "void";
    return pauseMs > 0 ? { pauseMs } : undefined;
  }

  /**
   * The start address leads to the site's own: with `www`, or over TLS. The run begins again there, with the rules of
   * that address; what was kept of the other goes, since it leads there too.
   */
  async function moveHome({ document, run, url }: Run, home: string): Promise<"void" | { readonly pauseMs: number }> {
    const moved = await store.write(async (tx) => {
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
    });
    return moved ? { pauseMs: 0 } : "void";
  }

  async function read(
    site: Run,
    page: CrawlPagesTable,
    url: string,
    { headers, body }: { readonly headers: Headers; readonly body: Uint8Array<ArrayBuffer> },
    signal: AbortSignal,
  ): Promise<{ readonly outcome: Outcome; readonly links: readonly string[] }> {
    const skip = (reason: string, links: readonly string[] = [], canonical?: string) => ({
      outcome: { kind: "skipped", reason, ...(canonical === undefined ? {} : { canonical }) } as const,
      links,
    });
    // Where it leads to another address of the site, that is the page's.
    if (url !== page.url) return skip(`it leads to ${url}`, await unknownAddresses(store, site, [url]));
    const type = pageType(headers.get("content-type"), url);
    if (type === undefined) return skip("it is neither HTML, Markdown, plain text nor PDF");
    const validators = { etag: headers.get("etag"), lastModified: headers.get("last-modified") };
    const tooLong = (value: string | null): string | null => (value !== null && value.length > 500 ? null : value);
    const etag = tooLong(validators.etag);
    const lastModified = tooLong(validators.lastModified);
    const fetchedHash = sha256(body);
    if (page.page_id !== null && page.fetched_hash === fetchedHash) {
      return { outcome: { kind: "unchanged", etag, lastModified }, links: [] };
    }
    let result;
    try {
      result = await parsePageInWorker({ ...type, bytes: body, title: titleOf(url) }, url, signal);
    } catch (error) {
      if (!(error instanceof UnreadableDocument)) throw error;
      return skip(error.message.replace(/^The file/, "The page"));
    }
    const rules = new Set(robotsHeader(headers));
    const links = result.head.nofollow || rules.has("nofollow") ? [] : result.head.links;
    const found = await unknownAddresses(store, site, links.filter(site.robots.allows));
    if (result.head.noindex || rules.has("noindex")) return skip("the page asks not to be indexed (noindex)", found);
    const { canonical } = result.head;
    if (canonical !== null && canonical !== page.url && (await standsFor(site, canonical))) {
      const own = await unknownAddresses(store, site, [canonical]);
      return skip(`its own address is ${canonical}`, [...new Set([...own, ...found])], canonical);
    }
    if (result.document === null) return skip(result.reason, found);
    const { document, textHash } = result;
    return { outcome: { kind: "kept", textHash, document, etag, lastModified, fetchedHash }, links: found };
  }

  async function stateOf({ document }: Run, url: string): Promise<CrawlPagesTable["state"] | undefined> {
    const row = await store.read
      .selectFrom("crawl_pages")
      .select("state")
      .where("document_id", "=", document.id)
      .where("url_hash", "=", sha256(url))
      .executeTakeFirst();
    return row?.state;
  }

  /** Whether a page may be left out because this one is its own address: it is kept, or can still be. */
  async function standsFor(site: Run, canonical: string): Promise<boolean> {
    if (new URL(canonical).origin !== new URL(site.url).origin || !site.robots.allows(canonical)) return false;
    const state = await stateOf(site, canonical);
    return state === undefined || state === "queued" || state === "kept";
  }

  async function finish(site: Run): Promise<void> {
    const { document, run } = site;
    const now = clock.now();
    await store.write(async (tx) => {
      if (!(await close(tx, document.id, run, now))) return;
      const rows = await tx
        .selectFrom("crawl_pages")
        .select(["page_id", "state", "reason", "url"])
        .where("document_id", "=", document.id)
        .where((eb) => eb.or([eb("state", "!=", "queued"), eb("page_id", "is not", null)]))
        .orderBy("position")
        .execute();
      const kept = rows.filter(({ state }) => state === "kept").length;
      if (kept >= site.crawl.max_pages) {
        // More were kept before than may be now.
        for (const { page_id: pageId, state } of rows) if (state === "queued") await removePage(tx, site, pageId, now);
      }
      const start = rows.find(({ url }) => url === site.url);
      const first = rows.find(({ state }) => state === "kept");
      const worst = rows.find(({ state }) => state === "failed" || state === "gone");
      const why = worst?.reason ?? start?.reason ?? "no page of it holds text";
      const named = (start?.state === "kept" ? start : first)?.page_id ?? null;
      const title = named === null ? undefined : await titleOfPage(tx, named);
      await end(tx, document.id, now, kept === 0 ? `The website could not be read: ${why}.` : null, title);
    });
  }

  async function fail(site: Site, reason: string): Promise<void> {
    const now = clock.now();
    await store.write(async (tx) => {
      if (await close(tx, site.document.id, site.run, now)) {
        await end(tx, site.document.id, now, `The website could not be read: ${reason}.`);
      }
    });
  }

  async function close(tx: Tx, documentId: string, run: number, now: number): Promise<boolean> {
    const { numUpdatedRows } = await tx
      .updateTable("crawls")
      .set({ state: "done", finished_at: now })
      .where("document_id", "=", documentId)
      .where("run", "=", run)
      .where("state", "!=", "done")
      .executeTakeFirst();
    return numUpdatedRows === 1n;
  }

  /** A run that has changed nothing moves no time and sends no event; one that has failed leaves what answers as it is. */
  async function end(tx: Tx, id: string, now: number, error: string | null, title?: string): Promise<void> {
    const before = await tx.selectFrom("documents").selectAll().where("id", "=", id).executeTakeFirstOrThrow();
    const { requested, changed } = await tx
      .selectFrom("crawls")
      .select(["requested", "changed"])
      .where("document_id", "=", id)
      .executeTakeFirstOrThrow();
    const answers = before.pages > 0 && before.indexed_at !== null;
    const isNew = error === null && (changed === 1 || before.status !== "indexed");
    const after = {
      status: error === null || answers ? "indexed" : "failed",
      error,
      crawled_at: now,
      ...(isNew ? { indexed_at: now } : {}),
      ...(title === undefined ? {} : { title }),
    } as const;
    await tx.updateTable("documents").set(after).where("id", "=", id).execute();
    await scheduleRecrawl(tx, before, now, now);
    if (isNew || error !== null) {
      await raiseKnowledgeVersion(tx, before.workspace_id, now);
      await onSettled?.(tx, toDocument({ ...before, ...after }));
    }
    if (requested === 1 && before.url !== null) await startRun(tx, id, before.url, now);
  }
}

async function titleOfPage(tx: Tx, pageId: string): Promise<string | undefined> {
  const row = await tx.selectFrom("documents").select("title").where("id", "=", pageId).executeTakeFirst();
  return row?.title;
}

/** "unavailable_after" and rules for other crawlers aside. */
function robotsHeader(headers: Headers): string[] {
  const header = headers.get("x-robots-tag") ?? "";
  return robotRules(header).flatMap((rule) => {
    const [agent, own] = rule.split(":").map((part) => part.trim());
    if (own === undefined) return [rule];
    return agent === "parleybot" ? robotRules(own) : [];
  });
}

function titleOf(url: string): string {
  const { host, pathname } = new URL(url);
  const name = pathname.split("/").findLast((part) => part !== "") ?? host;
  return (
    name
      .replace(/\.\w{1,5}$/, "")
      .replaceAll(/[-_]+/g, " ")
      .slice(0, 300) || host
  );
}
