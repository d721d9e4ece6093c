import { isDuplicate } from "#database/duplicate-key.ts";
import type { IncomingEvent, IngestResult } from "./incoming-event.ts";
import { ingest } from "./ingest.ts";
import type { Effects } from "#conversations/transaction/effects.ts";
import type { Checkpoint } from "#runtime/checkpoints.ts";
import type { FindLocalWorker } from "#conversations/transaction/local-worker.ts";
import { claimInline } from "#conversations/transaction/local-worker.ts";
import type { Clock } from "#runtime/clock.ts";
import type { ConversationSearch } from "#database/search/contract.ts";
import type { Files } from "#files/contract.ts";
import type { Log } from "#runtime/log.ts";
import type { Store } from "#database/contract.ts";

interface PendingEvent {
  readonly incoming: IncomingEvent;
  readonly resolve: (result: IngestResult) => void;
  readonly reject: (reason: unknown) => void;
}

export interface IngestBatchDependencies {
  readonly store: Store;
  readonly search: ConversationSearch;
  readonly files: Pick<Files, "seal">;
  readonly clock: Clock;
  readonly log: Log;
  readonly checkpoint: Checkpoint;
  readonly localWorker: FindLocalWorker;
  /** Called after the commit. */
  readonly publishEffects: (effects: Effects) => void;
}

const batchMax = 200;
const attemptsMax = 4;

/**
 * Removes the next batch from the queue. A rule fires at most once per conversation and transaction, and each API query
 * needs its own answer. A batch therefore holds at most one API query per conversation.
 */
function takeBatch(waiting: PendingEvent[]): readonly PendingEvent[] {
  const batch: PendingEvent[] = [];
  const later: PendingEvent[] = [];
  const queried = new Set<string>();
  for (const each of waiting.splice(0, batchMax)) {
    const { account, event } = each.incoming;
    const thread =
      account.channel === "api" && event.kind === "message" ? JSON.stringify([account.id, event.thread]) : undefined;
    if (thread !== undefined && queried.has(thread)) later.push(each);
    else batch.push(each);
    if (thread !== undefined) queried.add(thread);
  }
  waiting.unshift(...later);
  return batch;
}

/**
 * Stores inbound events in batches. Events that arrive while one batch is being stored form the next batch, so the
 * batch size grows with the load. Each call resolves after the commit of its event.
 */
export function createIngestBatches(
  dependencies: IngestBatchDependencies,
): (incoming: IncomingEvent) => Promise<IngestResult> {
  const { store, search, files, clock, log, checkpoint, localWorker, publishEffects } = dependencies;
  const waiting: PendingEvent[] = [];
  let storing = false;

  async function storeWaiting(): Promise<void> {
    while (waiting.length > 0) {
      let batch: readonly PendingEvent[] = [];
      // Called inside the transaction, so that late events still join. A retried transaction gets the same batch.
      const take = (): readonly PendingEvent[] => {
        if (batch.length === 0) batch = takeBatch(waiting);
        return batch;
      };
      try {
        await storeBatch(take);
      } catch (error) {
        // If the transaction never started, `take` has not been called yet.
        const failed = take();
        if (failed.length > 1) {
          log.warn({ err: error, events: failed.length }, "inbound: storing a batch failed, storing each event alone");
        }
        await Promise.all(failed.map((each) => storeAlone(each)));
      }
    }
    storing = false;
  }

  async function storeBatch(take: () => readonly PendingEvent[]): Promise<void> {
    const { results, effects } = await store.write(async (tx) => {
      const events = take().map(({ incoming }) => incoming);
      const stored = await ingest(tx, search, files.seal, events, clock);
      return { ...stored, effects: await claimInline(tx, localWorker(), stored.effects, clock.now()) };
    });
    checkpoint("accept.committed");
    for (const [i, { resolve, reject }] of take().entries()) {
      const result = results[i];
      if (result === undefined) reject(new Error("an event was stored without a result"));
      else resolve(result);
    }
    publishEffects(effects);
    setImmediate(() => checkpoint("accept.acknowledged"));
  }

  async function storeAlone(one: PendingEvent): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        await storeBatch(() => [one]);
        return;
      } catch (error) {
        // Another process inserted the same conversation or event. The next attempt reads it.
        if (isDuplicate(error) && attempt < attemptsMax) continue;
        one.reject(error);
        return;
      }
    }
  }

  return (incoming) =>
    new Promise((resolve, reject) => {
      waiting.push({ incoming, resolve, reject });
      if (storing) return;
      storing = true;
      // Events of the same event-loop iteration share the first batch.
      setImmediate(() => void storeWaiting());
    });
}
