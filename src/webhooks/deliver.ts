import type { Clock } from "#runtime/clock.ts";
import type { Log } from "#runtime/log.ts";
import type { Store, Tx } from "#database/contract.ts";
import type { Wake } from "#runtime/signals.ts";
import type { PayloadOf, Work, WorkDeclaration } from "#database/work.ts";
import { declareWork } from "#database/work.ts";
import type { LeasedRow } from "#database/queries/outbox.ts";
import { LostLease, finishWork, holdWork, insertWork, isHeld } from "#database/queries/outbox.ts";
import type { AttemptOutcome } from "#database/schema/webhooks.ts";
import type { QueuedEvent } from "#database/queries/webhooks.ts";
import {
  deferEvent,
  dueHeads,
  emptyQueue,
  lockEndpoint,
  nextDelivery,
  webhookKind,
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
  /** Counts an attempt by its outcome. */
  readonly count: (outcome: AttemptOutcome) => void;
}

/** `work`: the outbox row, whose lease allows this process to send to the endpoint. */
interface Sending extends DeliverWebhooksDependencies {
  readonly work: LeasedRow;
}

/** Conversations whose events are sent to one endpoint at the same time. */
const conversationsAtOnce = 4;
/** After this time the work of an endpoint with a long queue ends, so that other endpoints get their turn. */
const sliceMs = 60_000;
/** Interval of checks for new events while deliveries are running. */
const lookMs = 250;

export function declareWebhooks(dependencies: DeliverWebhooksDependencies): WorkDeclaration {
  return declareWork(webhookKind, {
    batch: true,
    // Single events are given up, never an endpoint's lane.
    attemptsMax: Number.POSITIVE_INFINITY,
    // An endpoint that hangs holds its lane for seconds, and customers must not wait for it.
    lanesMax: 24,
    run: (rows, signal) => deliverWebhooks(dependencies, rows, signal),
  });
}

/**
 * Sends the due events of one endpoint: in order within a conversation, several conversations at once. A failed event
 * delays only its own conversation at this endpoint.
 */
export async function deliverWebhooks(
  dependencies: DeliverWebhooksDependencies,
  rows: readonly Work<PayloadOf<typeof webhookKind>>[],
  signal: AbortSignal,
): Promise<void> {
  const { store, clock, wake } = dependencies;
  const [first] = rows;
  if (first === undefined) return;
  const { endpointId } = first.payload;
  await drain({ ...dependencies, work: first }, endpointId, signal);
  const due = await store.write(async (tx) => {
    await finishWork(tx, rows);
    // Every queued event comes with a row in this lane. The deleted rows are committed, so the next statement sees their
    // events; uncommitted rows stay.
    await withdrawDeliveries(tx, endpointId);
    const now = clock.now();
    const next = await nextDelivery(tx, endpointId, now);
    if (next !== null) await insertWork(tx, [webhookWork(endpointId, Math.max(next, now))], now);
    return next;
  });
  // Schedules the retry exactly, instead of waiting for the next poll.
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

/** Resolves when a delivery has ended, or when it is time to check for events of other conversations. */
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
  // A process that lost its lease must not send after the new holder.
  if (!(await isHeld(store, work))) throw new LostLease();
  const posted = await post(dependencies, endpoint, event, signal);
  await storeAttempt(dependencies, endpoint, queued, posted);
}

/** The endpoint's present state; undefined when it was disabled or deleted. */
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

/** Stores the outcome of an attempt. */
async function storeAttempt(
  { store, clock, log, count, work }: Sending,
  { id, url }: Endpoint,
  queued: QueuedEvent,
  posted: Posted,
): Promise<void> {
  const attempts = queued.attempts + 1;
  const delayMs = retryDelayMs(attempts, posted.retryAfterMs);
  const { outcome, reason } = await store.write(async (tx) => {
    // A failure counts only with the lease, since another process may have delivered the event.
    if (!posted.delivered) await holdWork(tx, work);
    // The endpoint was removed meanwhile, and with it the log.
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
    // The event was erased while it was sent, so the response is not logged either.
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

/** Records a failure. Returns the reason where the endpoint is disabled by it, or null. */
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
