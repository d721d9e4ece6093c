import type { Clock } from "#runtime/clock.ts";
import type { Store } from "#database/contract.ts";
import { runLane } from "#queue/worker/run-lane.ts";
import { createDocuments } from "#knowledge/documents/documents.ts";
import type { Document, Documents, DocumentsOptions } from "#knowledge/documents/documents.ts";
import { openGuardedFetch } from "#outbound/guarded-fetch.ts";
import { silentLog } from "./knowledge.ts";
import { readsWork } from "#app/work-payloads.ts";

/** A clock whose time passes where it is waited for, and only there. */
export function hurriedClock(start = Date.UTC(2031, 0, 1)): Clock & { advance(ms: number): void } {
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
  /** Works until the document is done; the time that its work is put off passes at once. */
  finish(document: Document): Promise<Document>;
  /** Does what is due in the document's lane, once; false when nothing is. */
  step(document: Document): Promise<boolean>;
  close(): Promise<void>;
}

/** Documents that may crawl this machine, with their work done by hand. */
export function startCrawling(
  store: Store,
  clock: ReturnType<typeof hurriedClock>,
  more: Partial<DocumentsOptions> = {},
): Crawling {
  const fetch = openGuardedFetch({ allowPrivate: ["127.0.0.1"] });
  const documents = createDocuments({ store, clock, log: silentLog, fetch, ...more });
  const step = (document: Document): Promise<boolean> =>
    runLane({ store, clock, handlers: documents.work, reads: readsWork }, documents.laneOf(document));
  return {
    documents,
    step,
    async finish(document) {
      for (let steps = 0; steps < 500; steps += 1) {
        const now = await documents.get(document.workspaceId, document.id);
        if (now === undefined) throw new Error("the document is gone");
        if (documents.isSettled(now)) return now;
        if (!(await step(document))) clock.advance(1_000);
      }
      throw new Error("the document is never done");
    },
    close: () => fetch.close(),
  };
}
