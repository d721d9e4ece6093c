import type { Reader } from "#database/contract.ts";

interface PageRemark {
  readonly url: string;
  readonly reason: string;
}

/** Progress of the latest run of a site. */
export interface CrawlProgress {
  /** Discovered addresses. */
  readonly found: number;
  /** Addresses visited in this run. */
  readonly visited: number;
  readonly kept: number;
  /** The first pages that were not indexed, with the reason. */
  readonly left: readonly PageRemark[];
  /** The first pages of which little was read, with the reason. */
  readonly partly: readonly PageRemark[];
}

const remarksMax = 20;

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
  const pages = db
    .selectFrom("crawl_pages")
    .select(["url", "reason", "note"])
    .where("document_id", "=", documentId)
    .orderBy("position")
    .limit(remarksMax);
  const left = await pages.where("state", "in", ["failed", "gone", "skipped"]).execute();
  const partly = await pages.where("note", "is not", null).execute();
  return {
    found,
    visited: found - (counts.get("queued") ?? 0),
    kept: counts.get("kept") ?? 0,
    left: left.map(({ url, reason }) => ({ url, reason: reason ?? "" })),
    partly: partly.map(({ url, note }) => ({ url, reason: note ?? "" })),
  };
}
