import type { Reader } from "#database/contract.ts";

/** Progress of the latest run of a site. */
export interface CrawlProgress {
  /** Discovered addresses. */
  readonly found: number;
  /** Addresses visited in this run. */
  readonly visited: number;
  readonly kept: number;
  /** The first pages that were not indexed, with the reason. */
  readonly left: readonly { readonly url: string; readonly reason: string }[];
}

const leftMax = 20;

export async function crawlProgress(db: Reader, documentId: string): Promise<CrawlProgress | undefined> {
  const crawl = await db
    .selectFrom("crawls")
    .select("document_id")
    .where("document_id", "=", documentId)
    .executeTakeFirst();
  if (crawl === undefined) return undefined;
  const states = await db
    .selectFrom("crawl_pages")
    .select((eb) => ["state", eb.fn.countAll().as("count")])
    .where("document_id", "=", documentId)
    .groupBy("state")
    .execute();
  const counts = new Map(states.map(({ state, count }) => [state, Number(count)]));
  const found = [...counts.values()].reduce((sum, count) => sum + count, 0);
  const left = await db
    .selectFrom("crawl_pages")
    .select(["url", "reason"])
    .where("document_id", "=", documentId)
    .where("state", "in", ["failed", "gone", "skipped"])
    .orderBy("position")
    .limit(leftMax)
    .execute();
  return {
    found,
    visited: found - (counts.get("queued") ?? 0),
    kept: counts.get("kept") ?? 0,
    left: left.map(({ url, reason }) => ({ url, reason: reason ?? "" })),
  };
}
