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
  readonly resolve: (arrived: IngestResult) => void;
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
  /** Gives the signals of what is durable now. */
  readonly publishEffects: (effects: Effects) => void;
}

const groupMax = 200;
const attemptsMax = 4;

/**
 * The next that are stored together. Each question over the API has an answer of its own, which a rule may give: it shares
 * no transaction with another of its conversation, in which a rule would fire once.
 */
function takeGroup(waiting: PendingEvent[]): readonly PendingEvent[] {
  const group: PendingEvent[] = [];
  const later: PendingEvent[] = [];
  const asked = new Set<string>();
  for (const each of waiting.splice(0, groupMax)) {
    const { account, event } = each.incoming;
    const thread =
      account.channel === "api" && event.kind === "message" ? JSON.stringify([account.id, event.thread]) : undefined;
    if (thread !== undefined && asked.has(thread)) later.push(each);
    else group.push(each);
    if (thread !== undefined) asked.add(thread);
  }
  waiting.unshift(...later);
  return group;
}

/**
 * Stores arrivals in groups: while one group is being stored the next gathers, so the more arrive at once, the more share
 * the statements of a group. Resolves for each when it is durable.
 */
export function createIngestBatches(
  dependencies: IngestBatchDependencies,
): (arrival: IncomingEvent) => Promise<IngestResult> {
  const { store, search, files, clock, log, checkpoint, localWorker, publishEffects } = dependencies;
  const waiting: PendingEvent[] = [];
  let storing = false;

  async function storeWaiting(): Promise<void> {
    while (waiting.length > 0) {
      let group: readonly PendingEvent[] = [];
      // Taken when the transaction begins, not when it is asked for; the same ones when it has to run again.
      const take = (): readonly PendingEvent[] => {
        if (group.length === 0) group = takeGroup(waiting);
        return group;
      };
      try {
        await storeGroup(take);
      } catch (error) {
        // The transaction could not even begin.
        const failed = take();
        if (failed.length > 1) {
          log.warn({ err: error, events: failed.length }, "inbound: storing a batch failed, storing each event alone");
        }
        await Promise.all(failed.map((each) => storeAlone(each)));
      }
    }
    storing = false;
  }

  async function storeGroup(take: () => readonly PendingEvent[]): Promise<void> {
    const { results, effects } = await store.write(async (tx) => {
      const batch = take().map(({ incoming }) => incoming);
      const stored = await ingest(tx, search, files.seal, batch, clock);
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
        await storeGroup(() => [one]);
        return;
      } catch (error) {
        // Another process has begun the same conversation, or taken the same event: the next try finds it.
        if (isDuplicate(error) && attempt < attemptsMax) continue;
        one.reject(error);
        return;
      }
    }
  }

  return (arrival) =>
    new Promise((resolve, reject) => {
      waiting.push({ incoming: arrival, resolve, reject });
      if (storing) return;
      storing = true;
      // One turn of the event loop gathers what arrived together.
      setImmediate(() => void storeWaiting());
    });
}
