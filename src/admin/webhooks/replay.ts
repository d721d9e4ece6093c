import type { Selectable } from "kysely";
import type { EventType } from "#domain/event-types.ts";
import type { Actor } from "#domain/conversation/message.ts";
import { Problem } from "#domain/problem.ts";
import { operatorActor, recordChange } from "#admin/audit.ts";
import { storeTestEvent } from "#conversations/transaction/effects/events.ts";
import type { Clock } from "#runtime/clock.ts";
import type { Store, Tx } from "#database/contract.ts";
import { insertWork } from "#database/queries/outbox.ts";
import type { WebhooksTable } from "#database/schema/webhooks.ts";
import { queueAgain, webhookWork, typesOf } from "#database/queries/webhooks.ts";
import { insertAttempt } from "#webhooks/attempts.ts";
import type { PostDependencies, Posted } from "#webhooks/post.ts";
import { post } from "#webhooks/post.ts";
import { recordWebhook, requireWebhook } from "./webhooks.ts";

export interface ReplayRange {
  /** Epoch milliseconds, both exclusive. */
  readonly since?: number | undefined;
  readonly until?: number | undefined;
  /** Only events that this endpoint has never accepted. */
  readonly failed?: boolean;
  /** The author, for the audit log. Absent: the operator. */
  readonly by?: Actor;
}

const step = 500;

/** Queues an event again, with its id, for one endpoint or for each that subscribes to its type, whether delivered or not. */
export async function replayEvent(
  store: Store,
  clock: Clock,
  eventId: string,
  endpointId: string | undefined,
  by: Actor = operatorActor,
): Promise<readonly string[]> {
  const event = await store.read
    .selectFrom("events")
    .select(["position", "id", "workspace_id", "type"])
    .where("id", "=", eventId)
    .executeTakeFirst();
  if (event === undefined) {
    throw new Problem(
      "not_found",
      `there is no event ${eventId}: events are kept for 30 days, and only while a webhook subscribes to them`,
    );
  }
  const endpoints = await store.read
    .selectFrom("webhooks")
    .selectAll()
    .where("workspace_id", "=", event.workspace_id)
    .execute();
  const chosen = endpoints.filter((row) =>
    endpointId === undefined ? row.disabled_at === null && typesOf(row).includes(event.type) : row.id === endpointId,
  );
  if (chosen.length === 0) {
    throw new Problem("not_found", "the event's workspace has no enabled webhook for it");
  }
  for (const row of chosen) refuseDisabled(row, by);
  await store.write(async (tx) => {
    for (const { id } of chosen) await again(tx, id, [event.position], clock.now());
    const { workspace_id: workspaceId } = event;
    const subject = `${event.type} ${event.id}`;
    await recordChange(tx, { workspaceId, by, action: "webhook_replayed", subject, now: clock.now() });
  });
  return chosen.map(({ id }) => id);
}

/** Queues the events of a period again, in order. Returns their number. */
export async function replayRange(
  store: Store,
  clock: Clock,
  endpointId: string,
  { since: given, until, failed = false, by = operatorActor }: ReplayRange,
): Promise<number> {
  const endpoint = await requireWebhook(store, endpointId);
  const since = given ?? (failed ? endpoint.created_at - 1 : undefined);
  refuseDisabled(endpoint, by);
  const types: readonly EventType[] = typesOf(endpoint);
  // The audit entry is stored with the first events, so that none is sent again without it.
  const period = [since, until].map((at) => (at === undefined ? "…" : new Date(at).toISOString())).join(" to ");
  const subject = `${failed ? "failed events" : "events"} of ${period} to ${endpoint.url}`;
  const { workspace_id: workspaceId } = endpoint;
  let after = 0;
  let count = 0;
  for (;;) {
    let query = store.read
      .selectFrom("events")
      .select("position")
      .where("workspace_id", "=", endpoint.workspace_id)
      .where("position", ">", after)
      .where("type", "in", types)
      .orderBy("position")
      .limit(step);
    if (since !== undefined) query = query.where("created_at", ">", since);
    if (until !== undefined) query = query.where("created_at", "<", until);
    if (failed) {
      query = query.where((eb) =>
        eb.not(
          eb.exists(
            eb
              .selectFrom("webhook_attempts")
              .select("webhook_attempts.id")
              .whereRef("webhook_attempts.event_id", "=", "events.id")
              .where("webhook_attempts.endpoint_id", "=", endpoint.id)
              .where("webhook_attempts.outcome", "=", "delivered"),
          ),
        ),
      );
    }
    const positions = (await query.execute()).map(({ position }) => position);
    const last = positions.at(-1);
    if (last === undefined) return count;
    const isFirst = count === 0;
    await store.write(async (tx) => {
      const now = clock.now();
      await again(tx, endpoint.id, positions, now);
      if (isFirst) await recordChange(tx, { workspaceId, by, action: "webhook_replayed", subject, now });
    });
    count += positions.length;
    after = last;
  }
}

async function again(tx: Tx, endpointId: string, positions: readonly number[], now: number): Promise<void> {
  await queueAgain(tx, endpointId, positions, now);
  await insertWork(tx, [webhookWork(endpointId, now)], now);
}

function refuseDisabled(
  { id, disabled_at: disabledAt }: Pick<Selectable<WebhooksTable>, "id" | "disabled_at">,
  by: Actor,
): void {
  if (disabledAt === null) return;
  const enableHint = by === operatorActor ? `with "parley webhook enable ${id}"` : "in the dashboard on its page";
  throw new Problem("invalid_transition", `${id} is disabled: enable it first, ${enableHint}.`);
}

/** Sends a test event now, also to a disabled endpoint and whatever its types. The attempt is logged. */
export async function testWebhook(
  dependencies: PostDependencies & { readonly store: Store },
  endpointId: string,
  by?: Actor,
): Promise<Posted & { readonly eventId: string }> {
  const { store, clock } = dependencies;
  const endpoint = await requireWebhook(store, endpointId);
  const eventId = await store.write(async (tx) => {
    const now = clock.now();
    await recordWebhook(tx, endpoint, "webhook_tested", by, now);
    return storeTestEvent(tx, { id: endpoint.id, workspaceId: endpoint.workspace_id }, now);
  });
  const { payload } = await store.read
    .selectFrom("events")
    .select("payload")
    .where("id", "=", eventId)
    .executeTakeFirstOrThrow();
  const posted = await post(dependencies, endpoint, { id: eventId, payload }, new AbortController().signal);
  const outcome = posted.delivered ? "delivered" : "given_up";
  await store.write((tx) =>
    insertAttempt(tx, { endpointId: endpoint.id, eventId, attempt: 1, outcome, next: null, posted }),
  );
  return { ...posted, eventId };
}
