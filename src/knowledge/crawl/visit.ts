import type { Clock } from "#runtime/clock.ts";
import type { Store } from "#database/contract.ts";
import type { CrawlPagesTable } from "#database/schema/knowledge.ts";
import { UnreadableDocument } from "#knowledge/documents/blocks.ts";
import { sha256 } from "#knowledge/documents/rows.ts";
import type { PageHead } from "#knowledge/parse/html/page-head.ts";
import { robotRules } from "#knowledge/parse/html/page-head.ts";
import { parsePageInWorker } from "#knowledge/parse/parse-in-worker.ts";
import { pageType } from "./page-type.ts";
import type { VisitResult } from "./pages.ts";
import { storeVisit, unknownAddresses } from "./pages.ts";
import type { ActiveRun } from "./run-state.ts";
import { moveHome } from "./run-state.ts";
import { isSameSite } from "./same-site.ts";
import type { Fetched, SiteFetcher } from "./site.ts";
import { retryMs } from "./site.ts";

const attemptsMax = 3;
const validatorCharactersMax = 500;

/** `stop`: the run is no longer active. `pauseMs`: the run goes on after this time. */
export type NextStep = "continue" | "stop" | { readonly pauseMs: number };

interface Reading {
  readonly result: VisitResult;
  /** Addresses found on the page that the site is not known to have. */
  readonly links: readonly string[];
}

export interface VisitContext {
  readonly store: Store;
  readonly clock: Clock;
  readonly fetcher: SiteFetcher;
}

/** Fetches a page and stores the result. */
export async function visitPage(
  { store, clock, fetcher }: VisitContext,
  run: ActiveRun,
  page: CrawlPagesTable,
  signal: AbortSignal,
): Promise<NextStep> {
  const isKnown = page.page_id !== null;
  const validators = { etag: isKnown ? page.etag : null, lastModified: isKnown ? page.last_modified : null };
  const fetched = await fetcher.page(page.url, validators, run.robots, signal);
  if (fetched.kind === "elsewhere" && page.url === run.url && isSameSite(page.url, fetched.url)) {
    return (await store.write((tx) => moveHome(tx, run, fetched.url))) ? { pauseMs: 0 } : "stop";
  }
  const isPage = fetched.kind === "page";
  const { result, links } = isPage
    ? await readPage(store, run, page, fetched, signal)
    : { result: withoutPage(fetched, page), links: [] };
  const bytes = isPage ? fetched.response.body.byteLength : 0;
  if (!(await storeVisit(store, run, { page, result, links, bytes }, clock.now()))) return "stop";
  if (fetched.kind !== "failed" || result.kind !== "retry") return "continue";
  const pauseMs = fetched.pauseMs ?? retryMs[page.attempts] ?? 0;
  return pauseMs > 0 ? { pauseMs } : "continue";
}

function withoutPage(fetched: Exclude<Fetched, { readonly kind: "page" }>, page: CrawlPagesTable): VisitResult {
  switch (fetched.kind) {
    case "unchanged":
      if (page.page_id === null) return { kind: "failed", reason: "the site answers with status 304" };
      return { kind: "unchanged" };
    case "gone":
      return { kind: "gone", reason: fetched.reason };
    case "refused":
    case "elsewhere":
      return { kind: "skipped", reason: fetched.reason };
    case "failed": {
      const isRetried = fetched.retryable && page.attempts + 1 < attemptsMax;
      return { kind: isRetried ? "retry" : "failed", reason: fetched.reason };
    }
  }
}

async function readPage(
  store: Store,
  run: ActiveRun,
  page: CrawlPagesTable,
  { url, response: { headers, body } }: Fetched & { readonly kind: "page" },
  signal: AbortSignal,
): Promise<Reading> {
  if (url !== page.url) return skipped(`it leads to ${url}`, await unknownAddresses(store, run, [url]));
  const type = pageType(headers.get("content-type"), url);
  if (type === undefined) return skipped("it is neither HTML, Markdown, plain text nor PDF");
  const validators = {
    etag: validatorOf(headers.get("etag")),
    lastModified: validatorOf(headers.get("last-modified")),
  };
  const fetchedHash = sha256(body);
  if (page.page_id !== null && page.fetched_hash === fetchedHash) {
    return { result: { kind: "unchanged", ...validators }, links: [] };
  }
  let parsed;
  try {
    parsed = await parsePageInWorker({ ...type, bytes: body, title: titleOf(url) }, url, signal);
  } catch (error) {
    if (!(error instanceof UnreadableDocument)) throw error;
    return skipped(error.message.replace(/^The file/, "The page"));
  }
  const { head } = parsed;
  const rules = new Set(headerRules(headers));
  const followed = head.nofollow || rules.has("nofollow") ? [] : head.links.filter(run.robots.allows);
  const links = await unknownAddresses(store, run, followed);
  if (head.noindex || rules.has("noindex")) return skipped("the page asks not to be indexed (noindex)", links);
  const canonical = await otherCanonical(store, run, page, head);
  if (canonical !== undefined) {
    const unknown = await unknownAddresses(store, run, [canonical]);
    return skipped(`its own address is ${canonical}`, [...new Set([...unknown, ...links])], canonical);
  }
  if (parsed.document === null) return skipped(parsed.reason, links);
  const { document, textHash } = parsed;
  return { result: { kind: "kept", textHash, document, ...validators, fetchedHash }, links };
}

function skipped(reason: string, links: readonly string[] = [], canonical?: string): Reading {
  return { result: { kind: "skipped", reason, ...(canonical === undefined ? {} : { canonical }) }, links };
}

/** The canonical address of a page, where it is another page of the site that is indexed or still can be. */
async function otherCanonical(
  store: Store,
  { document, url, robots }: ActiveRun,
  page: CrawlPagesTable,
  { canonical }: PageHead,
): Promise<string | undefined> {
  if (canonical === null || canonical === page.url) return undefined;
  if (new URL(canonical).origin !== new URL(url).origin || !robots.allows(canonical)) return undefined;
  const row = await store.read
    .selectFrom("crawl_pages")
    .select("state")
    .where("document_id", "=", document.id)
    .where("url_hash", "=", sha256(canonical))
    .executeTakeFirst();
  return row === undefined || row.state === "queued" || row.state === "kept" ? canonical : undefined;
}

const validatorOf = (header: string | null): string | null =>
  header !== null && header.length > validatorCharactersMax ? null : header;

/** Leaves out rules for other crawlers. */
function headerRules(headers: Headers): string[] {
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
