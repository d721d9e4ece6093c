import type { Clock } from "#runtime/clock.ts";
import type { Store } from "#database/contract.ts";
import { runLane } from "#queue/worker/run-lane.ts";
import { createDocuments } from "#knowledge/documents/documents.ts";
import type { Document, Documents, DocumentsOptions } from "#knowledge/documents/documents.ts";
import { openGuardedFetch } from "#outbound/guarded-fetch.ts";
import { silentLog } from "./knowledge.ts";
import { createWorkTable } from "#queue/work-table.ts";

/** A clock whose timers fire at once and move the time by their delay. */
export function skippingClock(start = Date.UTC(2031, 0, 1)): Clock & { advance(ms: number): void } {
  let now = start;
  return {
    now: () => now,
    timer(delayMs, callback) {
      const handle = setImmediate(() => {
        now += delayMs;
        callback();
      });
      return () => clearImmediate(handle);
    },
    advance(ms) {
      now += ms;
    },
  };
}

export interface Crawling {
  readonly documents: Documents;
  /** Works until the document is settled; delays pass at once. */
  finish(document: Document): Promise<Document>;
  /** Runs the due work of the document's lane once; false if there is none. */
  step(document: Document): Promise<boolean>;
  close(): Promise<void>;
}

/** Documents that may crawl this machine. The test runs their work. */
export function startCrawling(
  store: Store,
  clock: ReturnType<typeof skippingClock>,
  more: Partial<DocumentsOptions> = {},
): Crawling {
  const fetch = openGuardedFetch({ allowPrivate: ["127.0.0.1"] });
  const documents = createDocuments({ store, clock, log: silentLog, fetch, ...more });
  const step = (document: Document): Promise<boolean> =>
    runLane({ store, clock, works: createWorkTable(documents.work) }, documents.laneOf(document));
  return {
    documents,
    step,
    async finish(document) {
      for (let steps = 0; steps < 500; steps += 1) {
        const now = await documents.get(document.workspaceId, document.id);
        if (now === undefined) throw new Error("the document was deleted");
        if (documents.isSettled(now)) return now;
        if (!(await step(document))) clock.advance(1_000);
      }
      throw new Error("the document did not settle");
    },
    close: () => fetch.close(),
  };
}
