import type { Insertable } from "kysely";
import { Type } from "typebox";
import { workKind } from "#database/work.ts";
import type { EventType } from "#domain/event-types.ts";
import type { Reader, Store, Tx } from "#database/contract.ts";
import { dialectOf } from "#database/dialects/dialect.ts";
import type { NewWork } from "./outbox.ts";
import { prepareStatement } from "#database/dialects/prepared.ts";
import type { EventsTable } from "#database/schema/webhooks.ts";

export type NewEvent = Insertable<EventsTable>;

/** One lane per endpoint: one process at a time sends to it, and its whole queue is one outbox row. */
export const webhookLane = (endpointId: string): string => `tell:${endpointId}`;

/** The delivery of an endpoint's queued events. The row only names the endpoint, which has a queue of its own. */
export const webhookKind = workKind("tell", Type.Object({ endpointId: Type.String() }), { unordered: true });

export const webhookWork = (endpointId: string, dueAt: number): NewWork =>
  webhookKind.queued(webhookLane(endpointId), { endpointId }, dueAt);

/** The events that an endpoint subscribes to. */
export interface EndpointSubscription {
  readonly id: string;
  readonly workspaceId: string;
  readonly types: ReadonlySet<string>;
  readonly enabled: boolean;
}

/** All endpoints of these workspaces, by one indexed read. */
export async function endpointSubscriptions(
  tx: Tx,
  workspaceIds: readonly string[],
): Promise<readonly EndpointSubscription[]> {
  if (workspaceIds.length === 0) return [];
  const { rows } = await webhooksOf(tx, { workspaceIds: [...new Set(workspaceIds)] });
  return rows.map((row) => ({
    id: row.id,
    workspaceId: row.workspace_id,
    types: new Set(typesOf(row)),
    enabled: row.disabled_at === null,
  }));
}

const webhooksOf = prepareStatement((db, { workspaceIds }: { readonly workspaceIds: readonly string[] }) =>
  db
    .selectFrom("webhooks")
    .select(["id", "workspace_id", "events", "disabled_at"])
    .where("workspace_id", "in", workspaceIds),
);

export function typesOf(row: { readonly events: string }): readonly EventType[] {
  return JSON.parse(row.events) as readonly EventType[];
}

/**
 * Stores events, and queues each for its subscribed endpoints. Returns the work that delivers them. `held`: due times by
 * event id, for events that are not due at once.
 */
export async function insertEvents(
  tx: Tx,
  events: readonly NewEvent[],
  wishes: readonly EndpointSubscription[],
  now: number,
  held: ReadonlyMap<string, number> = new Map(),
): Promise<readonly NewWork[]> {
  const queued = events.flatMap((event) =>
    wishes
      .filter((wish) => wish.enabled && wish.workspaceId === event.workspace_id && wish.types.has(event.type))
      .map(({ id }) => ({
        endpoint_id: id,
        subject_id: event.subject_id,
        event_id: event.id,
        due_at: held.get(event.id) ?? now,
        attempts: 0,
        created_at: now,
      })),
  );
  // The size of a statement is limited, and messages can be long.
  for (let at = 0; at < events.length; at += insertedMax) {
    await tx
      .insertInto("events")
      .values(events.slice(at, at + insertedMax))
      .execute();
  }
  // The number of values is limited too, and there can be many endpoints.
  for (let at = 0; at < queued.length; at += queuedMax) {
    await tx
      .insertInto("webhook_queue")
      .values(queued.slice(at, at + queuedMax))
      .execute();
  }
  return [...new Set(queued.map(({ endpoint_id }) => endpoint_id))].map((id) => webhookWork(id, now));
}

const insertedMax = 50;
const queuedMax = 1_000;

/** Deletes all events of these conversations or contacts, with the delivery log. */
export async function deleteEventsOf(tx: Tx, subjectIds: readonly string[]): Promise<void> {
  if (subjectIds.length === 0) return;
  const found = await tx.selectFrom("events").select("id").where("subject_id", "in", subjectIds).execute();
  const ids = found.map(({ id }) => id);
  for (let at = 0; at < ids.length; at += deletedMax) await deleteEvents(tx, ids.slice(at, at + deletedMax));
}

const deletedMax = 500;

type ReadWrite = Pick<Store, "read" | "write">;

async function deleteEvents(tx: Tx, ids: readonly string[]): Promise<void> {
  await tx.deleteFrom("webhook_queue").where("event_id", "in", ids).execute();
  await tx.deleteFrom("webhook_attempts").where("event_id", "in", ids).execute();
  await tx.deleteFrom("events").where("id", "in", ids).execute();
}

/** Deletes at most `limit` events of a workspace. False when there were none. */
export async function deleteEventsOfWorkspace(db: ReadWrite, workspaceId: string, limit: number): Promise<boolean> {
  const events = await db.read
    .selectFrom("events")
    .select("id")
    .where("workspace_id", "=", workspaceId)
    .limit(limit)
    .execute();
  if (events.length === 0) return false;
  await db.write((tx) =>
    deleteEvents(
      tx,
      events.map(({ id }) => id),
    ),
  );
  return true;
}

/** Deletes at most `limit` events and `limit` attempts older than `before`. True when there may be more. */
export async function deleteOldEvents(db: ReadWrite, before: number, limit: number): Promise<boolean> {
  const events = await db.read
    .selectFrom("events")
    .select("id")
    .where("created_at", "<", before)
    .orderBy("created_at")
    .limit(limit)
    .execute();
  const attempts = await db.read
    .selectFrom("webhook_attempts")
    .select("id")
    .where("at", "<", before)
    .orderBy("at")
    .limit(limit)
    .execute();
  if (events.length + attempts.length === 0) return false;
  await db.write(async (tx) => {
    if (events.length > 0) {
      await deleteEvents(
        tx,
        events.map(({ id }) => id),
      );
    }
    if (attempts.length > 0) {
      await tx
        .deleteFrom("webhook_attempts")
        .where(
          "id",
          "in",
          attempts.map(({ id }) => id),
        )
        .execute();
    }
  });
  return events.length === limit || attempts.length === limit;
}

export interface QueuedEvent {
  readonly id: number;
  readonly subjectId: string;
  readonly eventId: string;
  readonly attempts: number;
}

/** The events that can be sent now: the first event of each subject, if it is due. */
export async function dueHeads(
  db: Reader,
  endpointId: string,
  now: number,
  { except, limit }: { readonly except: readonly string[]; readonly limit: number },
): Promise<readonly QueuedEvent[]> {
  let query = db
    .selectFrom("webhook_queue as q")
    .select(["q.id", "q.subject_id as subjectId", "q.event_id as eventId", "q.attempts"])
    .where("q.endpoint_id", "=", endpointId)
    .where("q.due_at", "<=", now)
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom("webhook_queue as earlier")
            .select("earlier.id")
            .whereRef("earlier.endpoint_id", "=", "q.endpoint_id")
            .whereRef("earlier.subject_id", "=", "q.subject_id")
            .whereRef("earlier.id", "<", "q.id"),
        ),
      ),
    );
  if (except.length > 0) query = query.where("q.subject_id", "not in", except);
  return query.orderBy("q.due_at").orderBy("q.id").limit(limit).execute();
}

/** Defers an event, and with it the later events of its subject. */
export async function deferEvent(tx: Tx, endpointId: string, event: QueuedEvent, dueAt: number): Promise<void> {
  await tx
    .updateTable("webhook_queue")
    .set({ due_at: dueAt, attempts: event.attempts + 1 })
    .where("id", "=", event.id)
    .execute();
  await deferFollowers(tx, endpointId, event.subjectId, event.id, dueAt);
}

async function deferFollowers(tx: Tx, endpointId: string, subjectId: string, id: number, dueAt: number): Promise<void> {
  await tx
    .updateTable("webhook_queue")
    .set({ due_at: dueAt })
    .where("endpoint_id", "=", endpointId)
    .where("subject_id", "=", subjectId)
    .where("id", ">", id)
    .where("due_at", "<", dueAt)
    .execute();
}

/**
 * The next due time of the endpoint's queue; null when it is empty. Also defers new events behind a deferred one, which
 * would otherwise be selected in vain each time.
 */
export async function nextDelivery(tx: Tx, endpointId: string, now: number): Promise<number | null> {
  const waiting = await tx
    .selectFrom("webhook_queue as q")
    .innerJoin("webhook_queue as head", (join) =>
      join
        .onRef("head.endpoint_id", "=", "q.endpoint_id")
        .onRef("head.subject_id", "=", "q.subject_id")
        .onRef("head.id", "<", "q.id"),
    )
    .select(["head.id", "head.subject_id as subjectId", "head.due_at as dueAt"])
    .distinct()
    .where("q.endpoint_id", "=", endpointId)
    .where("q.due_at", "<=", now)
    .where("head.due_at", ">", now)
    .limit(deferredMax)
    .execute();
  for (const { id, subjectId, dueAt } of waiting) await deferFollowers(tx, endpointId, subjectId, id, dueAt);
  const next = await tx
    .selectFrom("webhook_queue")
    .select((eb) => eb.fn.min("due_at").as("at"))
    .where("endpoint_id", "=", endpointId)
    .executeTakeFirst();
  return next?.at ?? null;
}

const deferredMax = 100;

/**
 * Empties the queue of an endpoint that was disabled or deleted, in steps, since it can be long. The events stay and can
 * be replayed. Can be repeated after an interruption.
 */
export async function emptyQueue(db: ReadWrite, endpointId: string): Promise<void> {
  const next = db.read.selectFrom("webhook_queue").select("id").where("endpoint_id", "=", endpointId).limit(deletedMax);
  for (;;) {
    const ids = (await next.execute()).map(({ id }) => id);
    if (ids.length === 0) return;
    const goesOn = await db.write(async (tx) => {
      // The endpoint was enabled again meanwhile.
      if (await isActive(tx, endpointId)) return false;
      await tx.deleteFrom("webhook_queue").where("id", "in", ids).execute();
      return true;
    });
    if (!goesOn) return;
  }
}

async function isActive(tx: Tx, endpointId: string): Promise<boolean> {
  const endpoint = await lockEndpoint(tx, endpointId);
  if (endpoint === undefined || endpoint.disabled_at !== null) return false;
  const open = tx.selectFrom("workspaces").select("id").where("id", "=", endpoint.workspace_id);
  return (await open.where("deleted_at", "is", null).executeTakeFirst()) !== undefined;
}

/** Deletes a disabled endpoint and its log in steps, the endpoint last. Can be repeated after an interruption. */
export async function deleteEndpoint(db: ReadWrite, endpointId: string): Promise<void> {
  await emptyQueue(db, endpointId);
  const next = db.read
    .selectFrom("webhook_attempts")
    .select("id")
    .where("endpoint_id", "=", endpointId)
    .limit(deletedMax);
  for (;;) {
    const ids = (await next.execute()).map(({ id }) => id);
    if (ids.length === 0) break;
    await db.write((tx) => tx.deleteFrom("webhook_attempts").where("id", "in", ids).execute());
  }
  await db.write(async (tx) => {
    await tx.deleteFrom("webhooks").where("id", "=", endpointId).execute();
    await withdrawDeliveries(tx, endpointId);
    // Transactions that were running may have queued events meanwhile.
    await tx.deleteFrom("webhook_queue").where("endpoint_id", "=", endpointId).execute();
    await tx.deleteFrom("webhook_attempts").where("endpoint_id", "=", endpointId).execute();
  });
}

/** Deletes the lane's work, unless it is leased. */
export async function withdrawDeliveries(tx: Tx, endpointId: string): Promise<void> {
  await tx.deleteFrom("outbox").where("lane", "=", webhookLane(endpointId)).where("lease_id", "is", null).execute();
}

/** Locks an endpoint's row until the end of the transaction. */
export async function lockEndpoint(tx: Tx, endpointId: string) {
  const query = tx.selectFrom("webhooks").selectAll().where("id", "=", endpointId);
  return (dialectOf(tx) === "mysql" ? query.forUpdate() : query).executeTakeFirst();
}

/** Queues stored events again. Deferred events become due at once. */
export async function queueAgain(tx: Tx, endpointId: string, positions: readonly number[], now: number): Promise<void> {
  const events = await tx
    .selectFrom("events")
    .select(["id", "subject_id"])
    .where("position", "in", positions)
    .orderBy("position")
    .execute();
  const waiting = await tx
    .selectFrom("webhook_queue")
    .select(["id", "event_id", "subject_id"])
    .where("endpoint_id", "=", endpointId)
    .where(
      "event_id",
      "in",
      events.map(({ id }) => id),
    )
    .execute();
  for (const { id, subject_id } of waiting) {
    // Earlier events of the subject become due too.
    await tx
      .updateTable("webhook_queue")
      .set({ due_at: now })
      .where("endpoint_id", "=", endpointId)
      .where("subject_id", "=", subject_id)
      .where("id", "<=", id)
      .where("due_at", ">", now)
      .execute();
  }
  const known = new Set(waiting.map(({ event_id }) => event_id));
  const fresh = events.filter(({ id }) => !known.has(id));
  if (fresh.length === 0) return;
  const insert = tx.insertInto("webhook_queue").values(
    fresh.map(({ id, subject_id }) => ({
      endpoint_id: endpointId,
      subject_id,
      event_id: id,
      due_at: now,
      attempts: 0,
      created_at: now,
    })),
  );
  // Another replay may be queueing the same events.
  await (dialectOf(tx) === "mysql" ? insert.ignore() : insert.onConflict((conflict) => conflict.doNothing())).execute();
}
