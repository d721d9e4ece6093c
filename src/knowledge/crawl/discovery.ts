import type { Log } from "#runtime/log.ts";
import { UnreadableDocument } from "#knowledge/documents/blocks.ts";
import { parseSitemapInWorker } from "#knowledge/parse/parse-in-worker.ts";
import { pageUrl } from "./page-url.ts";
import { discoveredMax } from "./pages.ts";
import type { ActiveRun } from "./run-state.ts";
import { atHome } from "./same-site.ts";
import type { SiteFetcher } from "./site.ts";
import { retryMs } from "./site.ts";

const sitemapsMax = 20;

export async function fetchRobots(fetcher: SiteFetcher, origin: string, signal: AbortSignal) {
  for (const ms of retryMs) {
    const answer = await fetcher.robots(origin, signal);
    if (!("reason" in answer) || !answer.retryable) return answer;
    await fetcher.wait(ms, signal);
  }
  return fetcher.robots(origin, signal);
}

/** The pages of the site's sitemaps; pages below the start address come first. */
export async function sitemapPages(
  fetcher: SiteFetcher,
  { url, crawl, robots }: ActiveRun,
  log: Log,
  signal: AbortSignal,
): Promise<string[]> {
  const { origin, href } = new URL("./", url);
  const queue = crawl.sitemap !== null ? [atHome(crawl.sitemap, url)] : [...robots.sitemaps, `${origin}/sitemap.xml`];
  const seen = new Set<string>();
  const pages = new Set<string>();
  for (let map = queue.shift(); map !== undefined && seen.size < sitemapsMax; map = queue.shift()) {
    const address = URL.parse(map, url);
    if (address === null || address.origin !== origin || seen.has(address.href)) continue;
    seen.add(address.href);
    const bytes = await fetcher.sitemap(address.href, robots, signal);
    if (bytes === undefined) continue;
    try {
      const sitemap = await parseSitemapInWorker(bytes, signal);
      for (const each of sitemap.pages) {
        const page = pageUrl(each, url);
        if (page !== null && new URL(page).origin === origin && robots.allows(page)) pages.add(page);
      }
      queue.push(...sitemap.sitemaps);
    } catch (error) {
      if (!(error instanceof UnreadableDocument)) throw error;
      log.info({ sitemap: address.href, reason: error.message }, "crawl: reading a sitemap failed");
    }
    if (pages.size >= discoveredMax) break;
  }
  const below = [...pages].filter((page) => page.startsWith(href));
  return [...new Set([...below, ...pages])];
}
