import { newId, parseWorkspaceId } from "#domain/ids.ts";
import type { EventType } from "#domain/event-types.ts";
import { defaultEventTypes, eventTypes } from "#domain/event-types.ts";
import { Problem } from "#domain/problem.ts";
import type { Clock } from "#runtime/clock.ts";
import type { Store, Tx } from "#database/contract.ts";
import type { WebhooksTable } from "#database/schema/webhooks.ts";
import { deleteEndpoint, emptyQueue, typesOf } from "#database/queries/webhooks.ts";
import type { Selectable } from "kysely";
import type { AllowPrivate } from "#outbound/addresses.ts";
import { createAddressCheck } from "#outbound/addresses.ts";
import type { Secrets } from "#runtime/secrets.ts";
import { dayMs } from "#webhooks/retry.ts";
import { newWebhookSecret, webhookKey } from "#webhooks/signature.ts";
import { noteAction } from "#admin/audit.ts";
import { requireWorkspace } from "#admin/api-keys.ts";

export interface WebhookDependencies {
  readonly store: Store;
  readonly clock: Clock;
  readonly secrets: Secrets;
  readonly allowPrivate: AllowPrivate;
}

export interface NewWebhook {
  readonly workspaceId: string;
  readonly url: string;
  /** Absent: the default ones. */
  readonly events?: readonly string[] | undefined;
  /** Absent: one is made. */
  readonly secret?: string | undefined;
}

/** How long the secret before the current one signs too. */
const overlapMs = dayMs;
const urlLengthMax = 2_000;

/** Makes an endpoint. Its secret is in the result and, sealed, in the database. */
export async function addWebhook(dependencies: WebhookDependencies, given: NewWebhook) {
  const { store, clock, secrets } = dependencies;
  const workspace = await requireWorkspace(store, given.workspaceId);
  const url = checkedUrl(given.url, dependencies.allowPrivate);
  const events = checkedTypes(given.events);
  const secret = checkedSecret(given.secret) ?? newWebhookSecret();
  const now = clock.now();
  const row = newRow({ workspaceId: workspace.id, url, events, secret: secrets.seal(secret), now, by: "operator" });
  await store.write((tx) => tx.insertInto("webhooks").values(row).execute());
  return { id: row.id, secret, workspace_id: workspace.id, url, events };
}

export function newRow(given: {
  readonly workspaceId: string;
  readonly url: string;
  readonly events: readonly EventType[];
  /** Sealed. */
  readonly secret: string;
  readonly now: number;
  readonly by: "operator" | "file";
}) {
  return {
    id: newId("whe", given.now),
    workspace_id: given.workspaceId,
    url: given.url,
    secret: given.secret,
    events: JSON.stringify(given.events),
    disabled_at: null,
    disabled_reason: null,
    managed_by: given.by,
    previous_secret: null,
    previous_until: null,
    failing_since: null,
    failed_at: null,
    created_at: given.now,
  };
}

/**
 * Says at once what can never be sent to. What a name stands for is looked at whenever something is sent, since it can
 * change.
 */
export function checkedUrl(given: string, allowPrivate: AllowPrivate): string {
  const wrong = (what: string): Problem => new Problem("invalid_parameter", `url: ${what}`);
  const url = URL.parse(given);
  if (url === null || (url.protocol !== "https:" && url.protocol !== "http:"))
    throw wrong("use the whole address, such as https://shop.example/hooks/parley");
  if (given.length > urlLengthMax) throw wrong(`use at most ${urlLengthMax} characters`);
  if (url.username !== "" || url.password !== "") throw wrong("leave out user name and password; requests are signed");
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const isAddress = /^[\d.]+$/.test(host) || host.includes(":");
  if (isAddress && !createAddressCheck(allowPrivate)(host)) {
    throw wrong(
      `${host} is not a public address; allow it in the configuration file, under outbound.allow_private, if it is yours`,
    );
  }
  url.hash = "";
  return url.href;
}

export function checkedTypes(given: readonly string[] | undefined): readonly EventType[] {
  if (given === undefined) return defaultEventTypes;
  const unknown = given.find((name) => !eventTypes.some((type) => type === name));
  if (unknown !== undefined || given.length === 0) {
    const what = unknown === undefined ? "name at least one" : `"${unknown}" is none`;
    throw new Problem("invalid_parameter", `events: ${what}; there are ${eventTypes.join(", ")}`);
  }
  return eventTypes.filter((type) => given.includes(type));
}

export function checkedSecret(given: string | undefined): string | undefined {
  if (given !== undefined && webhookKey(given) === undefined) {
    throw new Problem(
      "invalid_parameter",
      "secret: use whsec_ and the base64 of 24 to 64 random bytes, or leave it out, and one is made",
    );
  }
  return given;
}

type Row = Selectable<WebhooksTable>;

export async function requireWebhook(store: Store, id: string): Promise<Row> {
  const row = await store.read.selectFrom("webhooks").selectAll().where("id", "=", id).executeTakeFirst();
  if (row === undefined) throw new Problem("not_found", `there is no webhook ${id}; see: parley webhook list`);
  return row;
}

const iso = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString());

/** The endpoints of a workspace, or of all. */
export async function listWebhooks(store: Store, workspaceId: string | undefined) {
  const workspace = workspaceId === undefined ? undefined : await requireWorkspace(store, workspaceId);
  let query = store.read
    .selectFrom("webhooks")
    .innerJoin("workspaces", "workspaces.id", "webhooks.workspace_id")
    .selectAll("webhooks")
    .where("workspaces.deleted_at", "is", null)
    .orderBy("webhooks.created_at")
    .orderBy("webhooks.id");
  if (workspace !== undefined) query = query.where("webhooks.workspace_id", "=", workspace.id);
  const rows = await query.execute();
  const waiting = await store.read
    .selectFrom("webhook_queue")
    .select((eb) => ["endpoint_id", eb.fn.countAll<number | string>().as("count")])
    .groupBy("endpoint_id")
    .execute();
  const counts = new Map(waiting.map(({ endpoint_id, count }) => [endpoint_id, Number(count)]));
  return rows.map((row) => ({ ...describeWebhook(row), waiting: counts.get(row.id) ?? 0 }));
}

function describeWebhook(row: Row) {
  return {
    id: row.id,
    workspace_id: row.workspace_id,
    url: row.url,
    events: typesOf(row),
    state: row.disabled_at === null ? (row.failing_since === null ? "enabled" : "failing") : "disabled",
    disabled_at: iso(row.disabled_at),
    disabled_reason: row.disabled_reason,
    failing_since: iso(row.failing_since),
    managed_by: row.managed_by,
    created_at: iso(row.created_at),
  };
}

/** Removes the endpoint with its log. Nothing is sent to it from now on. Can be called again after it was interrupted. */
export async function removeWebhook(store: Store, clock: Clock, id: string): Promise<void> {
  const row = await requireWebhook(store, id);
  // What stands in the file comes back at the next start.
  if (row.managed_by === "file" && row.disabled_reason !== notInFile) {
    throw new Problem("invalid_parameter", `${id} stands in the configuration file: take it out there, and restart`);
  }
  await store.write((tx) => disable(tx, id, "it is being removed", clock.now()));
  await deleteEndpoint(store, id);
}

/** Why what has left the configuration file is disabled. */
export const notInFile = "it is not in the configuration file any more";

export async function disableWebhook(store: Store, clock: Clock, id: string): Promise<void> {
  await requireWebhook(store, id);
  await store.write((tx) => disable(tx, id, "disabled by the operator", clock.now()));
  await emptyQueue(store, id);
}

/** Nothing is sent to it from now on; what waits for it is still to be withdrawn, by `emptyQueue`. */
export async function disable(tx: Tx, id: string, reason: string, now: number): Promise<void> {
  await tx
    .updateTable("webhooks")
    .set({ disabled_at: now, disabled_reason: reason })
    .where("id", "=", id)
    .where("disabled_at", "is", null)
    .execute();
}

/** Enables the endpoint. What it has missed is not sent by itself: somebody may have caught up by other means. */
export async function enableWebhook(store: Store, id: string): Promise<void> {
  const row = await requireWebhook(store, id);
  // Where the disabling was interrupted.
  if (row.disabled_at !== null) await emptyQueue(store, id);
  await store.write((tx) => enable(tx, id));
}

export async function enable(tx: Tx, id: string): Promise<void> {
  await tx
    .updateTable("webhooks")
    .set({ disabled_at: null, disabled_reason: null, failing_since: null, failed_at: null })
    .where("id", "=", id)
    .execute();
}

/** A new secret. The one before it signs beside it for a day; one from before that does not any more. */
export async function rotateWebhook(
  { store, clock, secrets }: Pick<WebhookDependencies, "store" | "clock" | "secrets">,
  id: string,
): Promise<{ readonly secret: string; readonly previousUntil: string }> {
  await requireWebhook(store, id);
  const secret = newWebhookSecret();
  const now = clock.now();
  const until = now + overlapMs;
  await store.write((tx) => replaceSecret(tx, id, { sealed: secrets.seal(secret), until, by: "operator", now }));
  return { secret, previousUntil: new Date(until).toISOString() };
}

/** `sealed` signs from now on, and until `until` what signed so far as well. */
export async function replaceSecret(
  tx: Tx,
  id: string,
  given: { readonly sealed: string; readonly until: number; readonly by: string; readonly now: number },
): Promise<void> {
  const { sealed, until, by, now } = given;
  const { secret, workspace_id: workspaceId } = await tx
    .selectFrom("webhooks")
    .select(["secret", "workspace_id"])
    .where("id", "=", id)
    .executeTakeFirstOrThrow();
  await tx
    .updateTable("webhooks")
    .set({ secret: sealed, previous_secret: secret, previous_until: until })
    .where("id", "=", id)
    .execute();
  await noteAction(tx, { workspaceId, action: "secret_rotated", by, detail: `the secret of webhook ${id}`, now });
}

export interface DeliveryFilter {
  readonly workspaceId?: string | undefined;
  readonly endpointId?: string | undefined;
  readonly eventId?: string | undefined;
  /** Only what was not delivered by this try. */
  readonly failed?: boolean;
  readonly limit: number;
}

/** Tries at sending, newest first. */
export async function webhookDeliveries(store: Store, filter: DeliveryFilter) {
  let query = store.read
    .selectFrom("webhook_attempts as attempt")
    .leftJoin("events", "events.id", "attempt.event_id")
    .selectAll("attempt")
    .select(["events.type", "events.subject_id"])
    .orderBy("attempt.id", "desc")
    .limit(filter.limit);
  if (filter.endpointId !== undefined) {
    query = query.where("attempt.endpoint_id", "=", (await requireWebhook(store, filter.endpointId)).id);
  }
  if (filter.workspaceId !== undefined) {
    const { id } = await requireWorkspace(store, filter.workspaceId);
    query = query.where("attempt.endpoint_id", "in", (eb) =>
      eb
        .selectFrom("webhooks")
        .select("webhooks.id")
        .where("webhooks.workspace_id", "=", parseWorkspaceId(id) ?? id),
    );
  }
  if (filter.eventId !== undefined) query = query.where("attempt.event_id", "=", filter.eventId);
  if (filter.failed === true) query = query.where("attempt.outcome", "!=", "delivered");
  const rows = await query.execute();
  return rows.map((row) => ({
    endpoint_id: row.endpoint_id,
    event_id: row.event_id,
    type: row.type,
    subject_id: row.subject_id,
    attempt: row.attempt,
    outcome: row.outcome,
    at: iso(row.at),
    duration_ms: row.duration_ms,
    status: row.status,
    error: row.error,
    response: row.response,
    next_at: iso(row.next_at),
  }));
}
