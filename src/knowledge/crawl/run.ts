import type { Clock } from "#runtime/clock.ts";
import type { Log } from "#runtime/log.ts";
import type { Store, Tx } from "#database/contract.ts";
import type { OnSettled } from "#knowledge/documents/rows.ts";
import type { CrawlWork } from "./crawls.ts";
import { fetchRobots, sitemapPages } from "./discovery.ts";
import { addAddresses, unknownAddresses } from "./pages.ts";
import type { ActiveRun, ClaimedRun } from "./run-state.ts";
import { claimRun, failRun, finishRun, nextPage } from "./run-state.ts";
import type { SiteFetcher } from "./site.ts";
import { readRobots } from "./site.ts";
import { visitPage } from "./visit.ts";

export interface CrawlerOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly fetcher: SiteFetcher;
  readonly onSettled: OnSettled | undefined;
}

/** `dueAt`: when the next slice of the run is due; null: the run has ended. */
export interface SliceEnd {
  readonly dueAt: number | null;
}

const sliceVisitsMax = 20;
const sliceMs = 60_000;

/** Crawls websites in short slices, so that no site delays the others. Each visit is stored before the next begins. */
export function createCrawler({ store, clock, log, fetcher, onSettled }: CrawlerOptions) {
  return {
    async slice(work: CrawlWork, signal: AbortSignal): Promise<SliceEnd> {
      const run = await begin(work, signal);
      if (run === undefined) return { dueAt: null };
      const until = clock.now() + sliceMs;
      for (let visits = 0; visits < sliceVisitsMax && clock.now() < until; visits += 1) {
        signal.throwIfAborted();
        const page = await nextPage(store.read, run);
        if (page === undefined) {
          await store.write((tx) => finishRun(tx, run, clock.now(), onSettled));
          return { dueAt: null };
        }
        const next = await visitPage({ store, clock, fetcher }, run, page, signal);
        if (next === "stop") return { dueAt: null };
        if (next !== "continue") return { dueAt: clock.now() + next.pauseMs };
      }
      return { dueAt: clock.now() };
    },
    /** Ends the run of abandoned work, if it is the active one. */
    abandon: (work: CrawlWork, tx: Tx, error: string): Promise<void> =>
      failRun(tx, work, error, clock.now(), onSettled),
  };

  /** Undefined where there is no run to go on with. */
  async function begin(work: CrawlWork, signal: AbortSignal): Promise<ActiveRun | undefined> {
    const claimed = await store.write((tx) => claimRun(tx, work));
    if (claimed === undefined) return undefined;
    const { origin } = new URL(claimed.url);
    if (claimed.crawl.robots !== null) return { ...claimed, robots: readRobots(origin, claimed.crawl.robots) };
    const rules = await fetchRobots(fetcher, origin, signal);
    if ("reason" in rules) {
      const error = `The website could not be read: ${rules.reason}.`;
      await store.write((tx) => failRun(tx, work, error, clock.now(), onSettled));
      return undefined;
    }
    const run = { ...claimed, robots: readRobots(origin, rules.text) };
    if (!(await queueAddresses(run, [run.url]))) return undefined;
    if (!(await queueAddresses(run, await sitemapPages(fetcher, run, log, signal)))) return undefined;
    // Stored last: until then an interrupted start is repeated.
    await store.write((tx) =>
      tx
        .updateTable("crawls")
        .set({ robots: rules.text })
        .where("document_id", "=", work.documentId)
        .where("run", "=", work.run)
        .execute(),
    );
    return run;
  }

  async function queueAddresses(run: ClaimedRun, urls: readonly string[]): Promise<boolean> {
    return addAddresses(store, run, await unknownAddresses(store, run, urls));
  }
}
