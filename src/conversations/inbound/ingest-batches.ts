import { isDuplicate } from "#database/duplicate-key.ts";
import type { Arrival, Arrived } from "./incoming-event.ts";
import { acceptAll } from "./ingest.ts";
import type { Effects } from "#conversations/transaction/unit-of-work.ts";
import type { Checkpoint } from "#runtime/checkpoints.ts";
import type { FindHands } from "#conversations/transaction/local-worker.ts";
import { takeAtOnce } from "#conversations/transaction/local-worker.ts";
import type { Clock } from "#runtime/clock.ts";
import type { ConversationSearch } from "#database/search/contract.ts";
import type { Files } from "#files/contract.ts";
import type { Log } from "#runtime/log.ts";
import type { Store } from "#database/contract.ts";

interface Waiting {
  readonly arrival: Arrival;
  readonly resolve: (arrived: Arrived) => void;
  readonly reject: (reason: unknown) => void;
}

export interface AcceptanceDependencies {
  readonly store: Store;
  readonly search: ConversationSearch;
  readonly files: Pick<Files, "seal">;
  readonly clock: Clock;
  readonly log: Log;
  readonly checkpoint: Checkpoint;
  readonly hands: FindHands;
  /** Gives the signals of what is durable now. */
  readonly announce: (effects: Effects) => void;
}

const groupMax = 200;
const attemptsMax = 4;

/**
 * The next that are stored together. Each question over the API has an answer of its own, which a rule may give: it shares
 * no transaction with another of its conversation, in which a rule would fire once.
 */
function takeGroup(waiting: Waiting[]): readonly Waiting[] {
  const group: Waiting[] = [];
  const later: Waiting[] = [];
  const asked = new Set<string>();
  for (const each of waiting.splice(0, groupMax)) {
    const { account, event } = each.arrival;
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
export function createAcceptance(dependencies: AcceptanceDependencies): (arrival: Arrival) => Promise<Arrived> {
  const { store, search, files, clock, log, checkpoint, hands, announce } = dependencies;
  const waiting: Waiting[] = [];
  let storing = false;

  async function storeWaiting(): Promise<void> {
    while (waiting.length > 0) {
      let group: readonly Waiting[] = [];
      // Taken when the transaction begins, not when it is asked for; the same ones when it has to run again.
      const take = (): readonly Waiting[] => {
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

  async function storeGroup(take: () => readonly Waiting[]): Promise<void> {
    const { results, effects } = await store.write(async (tx) => {
      const arrivals = take().map(({ arrival }) => arrival);
      const stored = await acceptAll(tx, search, files.seal, arrivals, clock);
      return { ...stored, effects: await takeAtOnce(tx, hands(), stored.effects, clock.now()) };
    });
    checkpoint("accept.committed");
    for (const [i, { resolve, reject }] of take().entries()) {
      const result = results[i];
      if (result === undefined) reject(new Error("an event was stored without a result"));
      else resolve(result);
    }
    announce(effects);
    setImmediate(() => checkpoint("accept.acknowledged"));
  }

  async function storeAlone(one: Waiting): Promise<void> {
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
      waiting.push({ arrival, resolve, reject });
      if (storing) return;
      storing = true;
      // One turn of the event loop gathers what arrived together.
      setImmediate(() => void storeWaiting());
    });
}
