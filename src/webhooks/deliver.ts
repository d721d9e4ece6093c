import type { Clock } from "#runtime/clock.ts";
import type { Log } from "#runtime/log.ts";
import type { Store, Tx } from "#database/contract.ts";
import type { Wake } from "#runtime/signals.ts";
import type { OutboxRow } from "#database/queries/outbox.ts";
import { LostLease, finishWork, holdWork, insertWork, isHeld } from "#database/queries/outbox.ts";
import type { AttemptOutcome } from "#database/schema/webhooks.ts";
import type { QueuedEvent } from "#database/queries/webhooks.ts";
import {
  deferEvent,
  dueHeads,
  emptyQueue,
  lockEndpoint,
  nextDelivery,
  webhookLane,
  webhookWork,
  withdrawDeliveries,
} from "#database/queries/webhooks.ts";
import { insertAttempt } from "./attempts.ts";
import type { Endpoint, PostDependencies, Posted } from "./post.ts";
import { post } from "./post.ts";
import { failingMaxMs, failingSince, retryDelayMs } from "./retry.ts";

export interface DeliverWebhooksDependencies extends PostDependencies {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly wake: Wake;
  /** Counts a try, by what came of it. */
  readonly count: (outcome: AttemptOutcome) => void;
}

/** By `work` it is known whether the endpoint is still this process's to send to. */
interface Sending extends DeliverWebhooksDependencies {
  readonly work: OutboxRow;
}

/** Conversations whose events go to one endpoint at the same time. */
const conversationsAtOnce = 4;
/** After so long an endpoint with much to be sent gives its place to the next one. */
const sliceMs = 60_000;
/** How often what has come in is looked for while something is under way. */
const lookMs = 250;

/**
 * Sends to one endpoint what is due, for the outbox's rows of its lane: of each conversation in order, of several
 * conversations at once. What fails holds up its own conversation at this endpoint, and nothing else.
 */
export async function deliverWebhooks(
  dependencies: DeliverWebhooksDependencies,
  rows: readonly OutboxRow[],
  signal: AbortSignal,
): Promise<void> {
  const { store, clock, wake } = dependencies;
  const [first] = rows;
  if (first === undefined) return;
  const { endpointId } = JSON.parse(first.payload) as { readonly endpointId: string };
  await drain({ ...dependencies, work: first }, endpointId, signal);
  const due = await store.write(async (tx) => {
    await finishWork(tx, rows);
    // Whoever has queued something has put in a row of this lane with it. Those that are taken away here are committed,
    // so that what they tell of is seen by the next statement; the others stay.
    await withdrawDeliveries(tx, endpointId);
    const now = clock.now();
    const next = await nextDelivery(tx, endpointId, now);
    if (next !== null) await insertWork(tx, [webhookWork(endpointId, Math.max(next, now))], now);
    return next;
  });
  // A retry comes on time, not at the next look into the database.
  if (due !== null) wake.notify([webhookLane(endpointId)], due);
}

async function drain(dependencies: Sending, endpointId: string, signal: AbortSignal): Promise<void> {
  const { store, clock } = dependencies;
  const until = clock.now() + sliceMs;
  const running = new Map<string, Promise<void>>();
  const failures: unknown[] = [];
  for (;;) {
    if (failures.length === 0 && !signal.aborted && clock.now() < until) {
      const heads = await dueHeads(store.read, endpointId, clock.now(), {
        except: [...running.keys()],
        limit: conversationsAtOnce - running.size,
      });
      for (const head of heads) {
        const sent = sendOne(dependencies, endpointId, head, signal)
          .catch((error: unknown) => {
            failures.push(error);
          })
          .finally(() => running.delete(head.subjectId));
        running.set(head.subjectId, sent);
      }
    }
    if (running.size === 0) break;
    await change(clock, running);
  }
  signal.throwIfAborted();
  if (failures.length > 0) throw failures[0];
}

/** Resolves when something has ended, or it is time to look whether other conversations have something by now. */
async function change(clock: Clock, running: ReadonlyMap<string, Promise<void>>): Promise<void> {
  let stop: () => void = () => undefined;
  const look = new Promise<void>((resolve) => {
    if (running.size < conversationsAtOnce) stop = clock.timer(lookMs, resolve);
  });
  await Promise.race([...running.values(), look]);
  stop();
}

async function sendOne(
  dependencies: Sending,
  endpointId: string,
  queued: QueuedEvent,
  signal: AbortSignal,
): Promise<void> {
  const { store, work } = dependencies;
  const endpoint = await activeEndpoint(store, endpointId);
  if (endpoint === undefined) {
    await emptyQueue(store, endpointId);
    return;
  }
  const event = await store.read
    .selectFrom("events")
    .select(["id", "payload"])
    .where("id", "=", queued.eventId)
    .executeTakeFirst();
  if (event === undefined) {
    await store.write((tx) => tx.deleteFrom("webhook_queue").where("id", "=", queued.id).execute());
    return;
  }
  // What slept sends nothing after what another process has sent meanwhile.
  if (!(await isHeld(store, work))) throw new LostLease();
  const posted = await post(dependencies, endpoint, event, signal);
  await storeAttempt(dependencies, endpoint, queued, posted);
}

/** The endpoint as it is now; undefined when nothing may be sent to it. */
async function activeEndpoint(store: Store, endpointId: string): Promise<Endpoint | undefined> {
  return store.read
    .selectFrom("webhooks")
    .innerJoin("workspaces", "workspaces.id", "webhooks.workspace_id")
    .selectAll("webhooks")
    .where("webhooks.id", "=", endpointId)
    .where("webhooks.disabled_at", "is", null)
    .where("workspaces.deleted_at", "is", null)
    .executeTakeFirst();
}

/** Stores what came of a try. */
async function storeAttempt(
  { store, clock, log, count, work }: Sending,
  { id, url }: Endpoint,
  queued: QueuedEvent,
  posted: Posted,
): Promise<void> {
  const attempts = queued.attempts + 1;
  const delayMs = retryDelayMs(attempts, posted.retryAfterMs);
  const { outcome, reason } = await store.write(async (tx) => {
    // Another process may have delivered it by now: that this one could not tells nothing.
    if (!posted.delivered) await holdWork(tx, work);
    // Removed meanwhile: then there is nothing to log it for.
    const endpoint = await lockEndpoint(tx, id);
    if (endpoint === undefined) return { outcome: null, reason: null };
    const now = clock.now();
    const disabling = posted.delivered ? null : await failed(tx, endpoint, posted, now);
    if (posted.delivered && endpoint.failing_since !== null) {
      await tx.updateTable("webhooks").set({ failing_since: null, failed_at: null }).where("id", "=", id).execute();
    }
    const next = posted.delivered || disabling !== null || delayMs === null ? null : now + delayMs;
    if (next === null) await tx.deleteFrom("webhook_queue").where("id", "=", queued.id).execute();
    else await deferEvent(tx, id, queued, next);
    const made = outcomeOf(posted.delivered, disabling !== null, next);
    // The event was erased while it was on its way: nothing of what was answered to it is kept.
    const event = await tx.selectFrom("events").select("id").where("id", "=", queued.eventId).executeTakeFirst();
    if (event === undefined) return { outcome: made, reason: disabling };
    await insertAttempt(tx, {
      endpointId: id,
      eventId: queued.eventId,
      attempt: attempts,
      outcome: made,
      next,
      posted,
    });
    return { outcome: made, reason: disabling };
  });
  if (outcome !== null) count(outcome);
  if (reason === null) return;
  log.warn({ endpointId: id, host: URL.parse(url)?.host, reason }, "webhooks: endpoint disabled");
  await emptyQueue(store, id);
}

function outcomeOf(delivered: boolean, disabled: boolean, next: number | null): AttemptOutcome {
  if (delivered) return "delivered";
  if (disabled) return "disabled";
  return next === null ? "given_up" : "retry";
}

/** Notes that the endpoint fails; why it is disabled by that, or null. */
async function failed(tx: Tx, endpoint: Endpoint, posted: Posted, now: number): Promise<string | null> {
  const since = failingSince(endpoint, now);
  const reason =
    posted.status === 410
      ? "the endpoint answered 410: it is gone"
      : now - since >= failingMaxMs
        ? `everything has failed for 5 days; the last time: ${posted.error ?? "no answer"}`
        : null;
  await tx
    .updateTable("webhooks")
    .set({
      failing_since: since,
      failed_at: now,
      ...(reason === null || endpoint.disabled_at !== null ? {} : { disabled_at: now, disabled_reason: reason }),
    })
    .where("id", "=", endpoint.id)
    .execute();
  return reason;
}
