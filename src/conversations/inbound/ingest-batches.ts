import { isDuplicate } from "#database/duplicate-key.ts";
import type { IncomingEvent, IngestResult } from "#conversations/transaction/incoming-event.ts";
import type { PauseAfter } from "#conversations/answering/turn.ts";
import { ingest } from "./ingest.ts";
import type { Effects } from "#conversations/work/effects.ts";
import type { Checkpoint } from "#runtime/checkpoints.ts";
import type { FindLocalWorker } from "#conversations/transaction/local-worker.ts";
import { claimInline } from "#conversations/transaction/local-worker.ts";
import { createBatchWriter } from "#queue/batch-writer.ts";
import type { Clock } from "#runtime/clock.ts";
import type { ConversationSearch } from "#database/search/contract.ts";
import type { Files } from "#files/contract.ts";
import type { Log } from "#runtime/log.ts";
import type { Store } from "#database/contract.ts";

export interface IngestBatchDependencies {
  readonly store: Store;
  readonly search: ConversationSearch;
  readonly files: Pick<Files, "seal">;
  readonly clock: Clock;
  readonly log: Log;
  readonly checkpoint: Checkpoint;
  readonly localWorker: FindLocalWorker;
  readonly pauseAfter: PauseAfter;
  /** Called after the commit. */
  readonly publishEffects: (effects: Effects) => void;
}

interface StoredEvent {
  readonly result: IngestResult;
  /** The effects of the whole batch, on its first event. */
  readonly effects: Effects | null;
}

/**
 * Stores inbound events in batches. Events that arrive while one batch is being stored form the next batch, so the
 * batch size grows with the load. Each call resolves after the commit of its event.
 */
export function createIngestBatches(
  dependencies: IngestBatchDependencies,
): (incoming: IncomingEvent) => Promise<IngestResult> {
  const { store, search, files, clock, log, checkpoint, localWorker, pauseAfter, publishEffects } = dependencies;

  const put = createBatchWriter<IncomingEvent, StoredEvent>({
    store,
    inOrder: true,
    async all(tx, events) {
      const stored = await ingest(tx, { search, seal: files.seal, pauseAfter, clock }, events);
      const effects = await claimInline(tx, localWorker(), stored.effects, clock.now());
      return stored.results.map((result, at) => ({ result, effects: at === 0 ? effects : null }));
    },
    // A rule fires at most once per conversation and transaction, and each API query needs its own answer.
    fits: (incoming, batch) => !batch.some((other) => queryOneThread(incoming, other)),
    onBatchFailed: (err, events) =>
      log.warn({ err, events }, "inbound: storing a batch failed, storing each event alone"),
    // Another process inserted the same conversation or event. The next attempt reads it.
    canRetry: isDuplicate,
  });

  return async (incoming) => {
    const { result, effects } = await put(incoming);
    if (effects !== null) {
      checkpoint("accept.committed");
      publishEffects(effects);
      setImmediate(() => checkpoint("accept.acknowledged"));
    }
    return result;
  };
}

/** Whether both are API queries in the same conversation. */
function queryOneThread(a: IncomingEvent, b: IncomingEvent): boolean {
  return (
    a.account.channel === "api" &&
    a.account.id === b.account.id &&
    a.event.kind === "message" &&
    b.event.kind === "message" &&
    a.event.thread === b.event.thread
  );
}
