import type { EventType } from "#domain/event-types.ts";
import { Problem } from "#domain/problem.ts";
import { storeTestEvent } from "#conversations/transaction/events.ts";
import type { Clock } from "#runtime/clock.ts";
import type { Store, Tx } from "#database/contract.ts";
import { insertWork } from "#database/queries/outbox.ts";
import { queueAgain, webhookWork, typesOf } from "#database/queries/webhooks.ts";
import { insertAttempt } from "#webhooks/attempts.ts";
import type { PostDependencies, Posted } from "#webhooks/post.ts";
import { post } from "#webhooks/post.ts";
import { requireWebhook } from "./webhooks.ts";

export interface ReplayRange {
  /** Epoch milliseconds, both exclusive. */
  readonly since?: number | undefined;
  readonly until?: number | undefined;
  /** Only what this endpoint has never taken, of all that it could have. */
  readonly failed?: boolean;
}

const step = 500;

/** Sends an event again, whether or not it was taken; its id stays. To one endpoint, or to all that want its type. */
export async function replayEvent(
  store: Store,
  clock: Clock,
  eventId: string,
  endpointId: string | undefined,
): Promise<readonly string[]> {
  const event = await store.read
    .selectFrom("events")
    .select(["position", "id", "workspace_id", "type"])
    .where("id", "=", eventId)
    .executeTakeFirst();
  if (event === undefined) {
    throw new Problem("not_found", `there is no event ${eventId}: events are kept for 30 days, and only where wanted`);
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
    throw new Problem("not_found", "there is no enabled webhook in the event's workspace that it could be sent to");
  }
  for (const row of chosen) refuseDisabled(row);
  await store.write(async (tx) => {
    for (const { id } of chosen) await again(tx, id, [event.position], clock.now());
  });
  return chosen.map(({ id }) => id);
}

/** Sends again what happened in a time, in its order; how many events that are. */
export async function replayRange(
  store: Store,
  clock: Clock,
  endpointId: string,
  { since: given, until, failed = false }: ReplayRange,
): Promise<number> {
  const endpoint = await requireWebhook(store, endpointId);
  const since = given ?? (failed ? endpoint.created_at - 1 : undefined);
  refuseDisabled(endpoint);
  const types: readonly EventType[] = typesOf(endpoint);
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
    await store.write((tx) => again(tx, endpoint.id, positions, clock.now()));
    count += positions.length;
    after = last;
  }
}

async function again(tx: Tx, endpointId: string, positions: readonly number[], now: number): Promise<void> {
  await queueAgain(tx, endpointId, positions, now);
  await insertWork(tx, [webhookWork(endpointId, now)], now);
}

function refuseDisabled(row: { readonly id: string; readonly disabled_at: number | null }): void {
  if (row.disabled_at === null) return;
  throw new Problem("invalid_transition", `${row.id} is disabled; first: parley webhook enable ${row.id}`);
}

/** Sends a test event now, whatever the endpoint wants and whether or not it is enabled. Logged as every other try. */
export async function testWebhook(
  dependencies: PostDependencies & { readonly store: Store },
  endpointId: string,
): Promise<Posted & { readonly eventId: string }> {
  const { store, clock } = dependencies;
  const endpoint = await requireWebhook(store, endpointId);
  const eventId = await store.write((tx) =>
    storeTestEvent(tx, { id: endpoint.id, workspaceId: endpoint.workspace_id }, clock.now()),
  );
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
