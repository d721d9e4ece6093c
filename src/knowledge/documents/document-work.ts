import type { Clock } from "#runtime/clock.ts";
import type { Wake } from "#runtime/signals.ts";
import type { Store } from "#database/contract.ts";
import type { WorkDeclaration } from "#database/work.ts";
import { declareWork, eachRow } from "#database/work.ts";
import { finishWork } from "#database/queries/outbox.ts";
import { crawlKind, crawlLane, enqueueRun, recrawlKind, recrawlWhenDue } from "#knowledge/crawl/crawls.ts";
import type { createCrawler } from "#knowledge/crawl/run.ts";
import type { createIndexer } from "./indexer.ts";
import { enqueueIngest, ingestKind, ingestLane } from "./indexer.ts";

interface WorkOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly wake: Wake | undefined;
  readonly indexer: ReturnType<typeof createIndexer>;
  readonly crawler: ReturnType<typeof createCrawler>;
}

const errorCharactersMax = 500;

const failureText = (reason: string): string =>
  `It could not be indexed because of a failure in the program: ${reason}`.slice(0, errorCharactersMax);

/** The indexing of files, and the runs of websites. */
export function declareDocumentWork(options: WorkOptions): readonly WorkDeclaration[] {
  return [declareIngest(options), declareCrawl(options), declareRecrawl(options)];
}

const declareIngest = ({ store, indexer }: WorkOptions): WorkDeclaration =>
  declareWork(ingestKind, {
    batch: true,
    attemptsMax: 5,
    // Each may have a thread and hundreds of megabytes, and customers must not wait for it.
    lanesMax: 2,
    async run(rows, signal) {
      // All rows of a lane name the same document.
      if (rows[0] !== undefined) await indexer.index(rows[0].payload.documentId, signal);
      await store.write((tx) => finishWork(tx, rows));
    },
    async onAbandon(tx, { payload }, reason) {
      await indexer.abandon(tx, payload.documentId, failureText(reason));
      return () => undefined;
    },
  });

const declareCrawl = ({ store, clock, wake, crawler }: WorkOptions): WorkDeclaration =>
  declareWork(crawlKind, {
    attemptsMax: 5,
    lanesMax: 4,
    run: eachRow(async (row, signal) => {
      const { documentId, run } = row.payload;
      const { dueAt } = await crawler.slice({ documentId, run }, signal);
      const url = await store.write(async (tx) => {
        await finishWork(tx, [row]);
        const found = await tx.selectFrom("documents").select("url").where("id", "=", documentId).executeTakeFirst();
        if (found === undefined || found.url === null) return null;
        if (dueAt !== null) await enqueueRun(tx, documentId, found.url, run, dueAt, clock.now());
        return found.url;
      });
      // The end of a run may have queued the next one.
      if (dueAt === null && url !== null) wake?.notify([crawlLane(url)], clock.now());
    }),
    async onAbandon(tx, { payload }, reason) {
      await crawler.abandon(payload, tx, failureText(reason));
      return () => undefined;
    },
  });

const declareRecrawl = ({ store, clock, wake }: WorkOptions): WorkDeclaration =>
  declareWork(recrawlKind, {
    batch: true,
    attemptsMax: 20,
    async run(rows) {
      const now = clock.now();
      const lane = await store.write(async (tx) => {
        await finishWork(tx, rows);
        // All rows of a lane name the same website.
        return rows[0] === undefined ? undefined : recrawlWhenDue(tx, rows[0].payload.documentId, now);
      });
      if (lane !== undefined) wake?.notify([lane], now);
    },
  });

/** Returns the lanes in which work was queued. */
export async function resumePending(store: Store, now: number): Promise<string[]> {
  const pending = await store.read
    .selectFrom("documents")
    .leftJoin("crawls", "crawls.document_id", "documents.id")
    .select(["id", "source", "url", "run"])
    .where((eb) =>
      eb.or([
        eb("status", "in", ["pending", "processing"]),
        eb.and([eb("source", "=", "crawl"), eb("crawled_at", "is", null)]),
      ]),
    )
    .where("parent_id", "is", null)
    .execute();
  const lanes: string[] = [];
  for (const { id, source, url, run } of pending) {
    const site = source === "crawl" && url !== null && run !== null ? { url, run } : undefined;
    const lane = site === undefined ? ingestLane(id) : crawlLane(site.url);
    const queued = await store.write(async (tx) => {
      let rows = tx.selectFrom("outbox").select("id").where("lane", "=", lane).where("dead_at", "is", null);
      // Several documents of one site share a lane.
      if (site !== undefined) rows = rows.where("payload", "=", JSON.stringify({ documentId: id, run: site.run }));
      if ((await rows.limit(1).executeTakeFirst()) !== undefined) return false;
      if (site === undefined) await enqueueIngest(tx, id, now);
      else await enqueueRun(tx, id, site.url, site.run, now, now);
      return true;
    });
    if (queued) lanes.push(lane);
  }
  return lanes;
}
