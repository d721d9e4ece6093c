import { newId, parseWorkspaceId } from "#domain/ids.ts";
import type { EventType } from "#domain/event-types.ts";
import { defaultEventTypes, eventTypes } from "#domain/event-types.ts";
import type { Actor } from "#domain/conversation/message.ts";
import { Problem } from "#domain/problem.ts";
import type { AdminAction } from "#domain/workspace/admin-action.ts";
import type { Clock } from "#runtime/clock.ts";
import type { Store, Tx } from "#database/contract.ts";
import type { WebhookAttemptsTable, WebhooksTable } from "#database/schema/webhooks.ts";
import { deleteEndpoint, emptyQueue, lockEndpoint, typesOf } from "#database/queries/webhooks.ts";
import type { Selectable } from "kysely";
import type { AllowPrivate } from "#outbound/addresses.ts";
import { createAddressCheck, privateAddress } from "#outbound/addresses.ts";
import type { Secrets } from "#runtime/secrets.ts";
import { dayMs } from "#webhooks/retry.ts";
import { newWebhookSecret, webhookKey } from "#webhooks/signature.ts";
import { operatorActor, recordChange } from "#admin/audit.ts";
import { requireRoom } from "#admin/workspaces/caps.ts";
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
  /** Absent: the default types. */
  readonly events?: readonly string[] | undefined;
  /** Absent: one is generated. */
  readonly secret?: string | undefined;
  /** The author, for the audit log. Absent: the operator. */
  readonly by?: Actor;
}

/** How long the previous secret signs as well. */
const overlapMs = dayMs;
const urlLengthMax = 2_000;

/** Creates an endpoint. Its secret is in the result and, encrypted, in the database. */
export async function addWebhook(dependencies: WebhookDependencies, given: NewWebhook) {
  const { store, clock, secrets } = dependencies;
  const workspace = await requireWorkspace(store, given.workspaceId);
  const url = checkedUrl(given.url, dependencies.allowPrivate);
  const events = checkedTypes(given.events);
  const secret = checkedSecret(given.secret) ?? newWebhookSecret();
  const now = clock.now();
  const row = newRow({ workspaceId: workspace.id, url, events, secret: secrets.seal(secret), now, by: "operator" });
  await store.write(async (tx) => {
    await requireRoom(tx, workspace.id, "webhooks");
    await tx.insertInto("webhooks").values(row).execute();
    await recordWebhook(tx, row, "webhook_added", given.by, now);
  });
  return { id: row.id, secret, workspace_id: workspace.id, url, events };
}

export function recordWebhook(
  tx: Tx,
  { workspace_id: workspaceId, url }: { readonly workspace_id: string; readonly url: string },
  action: AdminAction,
  by: Actor = operatorActor,
  now: number,
  values: { readonly from?: string; readonly to?: string } = {},
): Promise<void> {
  return recordChange(tx, { workspaceId, by, action, subject: url, now, ...values });
}

export function newRow(given: {
  readonly workspaceId: string;
  readonly url: string;
  readonly events: readonly EventType[];
  /** Encrypted. */
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

/** Refuses invalid and private addresses. The addresses of a name can change, so they are checked at each delivery. */
export function checkedUrl(given: string, allowPrivate: AllowPrivate): string {
  const wrong = (what: string): Problem => new Problem("invalid_parameter", `url: ${what}`);
  const url = URL.parse(given);
  if (url === null || (url.protocol !== "https:" && url.protocol !== "http:"))
    throw wrong("use the complete address, such as https://shop.example/hooks/parley");
  if (given.length > urlLengthMax) throw wrong(`use at most ${urlLengthMax} characters`);
  if (url.username !== "" || url.password !== "") throw wrong("omit user name and password; requests are signed");
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const isAddress = /^[\d.]+$/.test(host) || host.includes(":");
  if (isAddress && !createAddressCheck(allowPrivate)(host)) {
    throw wrong(privateAddress(host));
  }
  url.hash = "";
  return url.href;
}

export function checkedTypes(given: readonly string[] | undefined): readonly EventType[] {
  if (given === undefined) return defaultEventTypes;
  const unknown = given.find((name) => !eventTypes.some((type) => type === name));
  if (unknown !== undefined || given.length === 0) {
    const what = unknown === undefined ? "name at least one" : `"${unknown}" is unknown`;
    throw new Problem("invalid_parameter", `events: ${what}; the types are ${eventTypes.join(", ")}`);
  }
  return eventTypes.filter((type) => given.includes(type));
}

export function checkedSecret(given: string | undefined): string | undefined {
  if (given !== undefined && webhookKey(given) === undefined) {
    throw new Problem(
      "invalid_parameter",
      "secret: use whsec_ and the base64 of 24 to 64 random bytes, or omit it to have one generated",
    );
  }
  return given;
}

type Row = Selectable<WebhooksTable>;

/** `workspaceId`: throws Problem not_found for an endpoint of another workspace, too. */
export async function requireWebhook(store: Store, id: string, workspaceId?: string): Promise<Row> {
  const row = await store.read.selectFrom("webhooks").selectAll().where("id", "=", id).executeTakeFirst();
  if (row === undefined || (workspaceId !== undefined && row.workspace_id !== workspaceId)) {
    throw noSuchWebhook(id);
  }
  return row;
}

const noSuchWebhook = (id: string): Problem => new Problem("not_found", `there is no webhook ${id}`);

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
  const ids = rows.map(({ id }) => id);
  if (ids.length === 0) return [];
  const waiting = await store.read
    .selectFrom("webhook_queue")
    .select((eb) => ["endpoint_id", eb.fn.countAll<number | string>().as("count")])
    .where("endpoint_id", "in", ids)
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

/** Stops deliveries and removes the endpoint with its log. After an interruption it can be called again. */
export async function removeWebhook(store: Store, clock: Clock, id: string, by?: Actor): Promise<void> {
  const row = await requireWebhook(store, id);
  // The next start would create a webhook of the file again.
  requireChangeable(row, "remove it there, and restart");
  const now = clock.now();
  await store.write(async (tx) => {
    await disable(tx, id, beingRemoved, now);
    await recordWebhook(tx, row, "webhook_removed", by, now);
  });
  await deleteEndpoint(store, id);
}

/** Throws Problem managed_by_file for an endpoint that the configuration file declares. */
function requireChangeable(row: Row, advice: string): void {
  if (row.managed_by === "file" && row.disabled_reason !== notInFile) throw managedByFile(row, advice);
}

const managedByFile = ({ id }: Row, advice: string): Problem =>
  new Problem("managed_by_file", `${id} is in the configuration file: ${advice}`);

export interface WebhookChange {
  readonly url?: string;
  readonly events?: readonly string[];
  readonly enabled?: boolean;
}

/**
 * Changes the address, the event types or the state in one transaction. Queued events go to the new address; missed
 * ones are sent on request only, because the receiver may have fetched the data itself.
 */
export async function changeWebhook(
  { store, clock, allowPrivate }: Pick<WebhookDependencies, "store" | "clock" | "allowPrivate">,
  id: string,
  given: WebhookChange,
  by?: Actor,
): Promise<void> {
  const { disabled_at: disabledAt } = await requireWebhook(store, id);
  const change = {
    ...(given.url === undefined ? {} : { url: checkedUrl(given.url, allowPrivate) }),
    ...(given.events === undefined ? {} : { events: JSON.stringify(checkedTypes(given.events)) }),
  };
  // Repeats an interrupted disabling.
  if (given.enabled === true && disabledAt !== null) await emptyQueue(store, id);
  const now = clock.now();
  await store.write(async (tx) => {
    const row = await requireLocked(tx, id);
    requireChangeable(row, "change it there, and restart");
    // The next start would disable an endpoint again that the file no longer has.
    if (given.enabled !== undefined && row.managed_by === "file") throw managedByFile(row, "declare it there");
    const after = { ...row, ...change };
    if (after.url !== row.url || after.events !== row.events) {
      await tx.updateTable("webhooks").set(change).where("id", "=", id).execute();
      const describe = (of: Row): string => `${of.url} (${typesOf(of).join(", ")})`;
      const values = { from: describe(row), to: describe(after) };
      await recordWebhook(tx, row, "webhook_changed", by, now, values);
    }
    if (given.enabled !== undefined) await switchWebhook(tx, row, given.enabled, by, now);
  });
  if (given.enabled === false) await emptyQueue(store, id);
}

async function requireLocked(tx: Tx, id: string): Promise<Row> {
  const row = await lockEndpoint(tx, id);
  if (row === undefined) throw noSuchWebhook(id);
  return row;
}

async function switchWebhook(tx: Tx, row: Row, on: boolean, by: Actor = operatorActor, now: number): Promise<void> {
  // Also ends the failing of an enabled one.
  if (on) await enable(tx, row.id);
  if (on === (row.disabled_at === null)) return;
  if (!on) await disable(tx, row.id, by === operatorActor ? "disabled by the operator" : `disabled by ${by.name}`, now);
  const values = on ? { from: "disabled", to: "enabled" } : { from: "enabled", to: "disabled" };
  await recordWebhook(tx, row, "webhook_changed", by, now, values);
}

/** Reason of disabling an endpoint whose queue and log are still to be deleted. */
export const beingRemoved = "it is being removed";

/** Reason of disabling an endpoint that was removed from the configuration file. */
export const notInFile = "it is not in the configuration file any more";

/** Must be called by the operator only, since it also changes endpoints of the configuration file. */
export async function disableWebhook(store: Store, clock: Clock, id: string): Promise<void> {
  await store.write(async (tx) => switchWebhook(tx, await requireLocked(tx, id), false, undefined, clock.now()));
  await emptyQueue(store, id);
}

/** Must be called by the operator only, since it also changes endpoints of the configuration file. */
export async function enableWebhook(store: Store, clock: Clock, id: string): Promise<void> {
  // Repeats an interrupted disabling.
  if ((await requireWebhook(store, id)).disabled_at !== null) await emptyQueue(store, id);
  await store.write(async (tx) => switchWebhook(tx, await requireLocked(tx, id), true, undefined, clock.now()));
}

/** Stops deliveries. The caller then calls `emptyQueue`. An endpoint that is disabled already gets this reason. */
export async function disable(tx: Tx, id: string, reason: string, now: number): Promise<void> {
  await tx
    .updateTable("webhooks")
    .set((eb) => ({ disabled_at: eb.fn.coalesce("disabled_at", eb.val(now)), disabled_reason: reason }))
    .where("id", "=", id)
    .execute();
}

export async function enable(tx: Tx, id: string): Promise<void> {
  await tx
    .updateTable("webhooks")
    .set({ disabled_at: null, disabled_reason: null, failing_since: null, failed_at: null })
    .where("id", "=", id)
    .execute();
}

/**
 * Sets a new secret. The previous one signs too for a day; older ones stop signing. The operator may also rotate the
 * secret of an endpoint of the configuration file, which generates one where the file has none.
 */
export async function rotateWebhook(
  { store, clock, secrets }: Pick<WebhookDependencies, "store" | "clock" | "secrets">,
  id: string,
  by: Actor = operatorActor,
): Promise<{ readonly secret: string; readonly previousUntil: string }> {
  const row = await requireWebhook(store, id);
  if (by !== operatorActor && row.managed_by === "file") throw managedByFile(row, "change its secret there");
  const secret = newWebhookSecret();
  const now = clock.now();
  const until = now + overlapMs;
  await store.write((tx) => replaceSecret(tx, id, { sealed: secrets.seal(secret), until, by, now }));
  return { secret, previousUntil: new Date(until).toISOString() };
}

/** Sets a new encrypted secret. The previous one signs as well until `until`. */
export async function replaceSecret(
  tx: Tx,
  id: string,
  given: { readonly sealed: string; readonly until: number; readonly by: Actor; readonly now: number },
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
  const subject = `the secret of webhook ${id}`;
  await recordChange(tx, { workspaceId, by, action: "secret_rotated", subject, now });
}

export interface DeliveryFilter {
  readonly workspaceId?: string | undefined;
  readonly endpointId?: string | undefined;
  readonly eventId?: string | undefined;
  /** Only failed attempts. */
  readonly failed?: boolean;
  /** Only attempts with a smaller id. */
  readonly before?: number;
  readonly limit: number;
}

/** Delivery attempts, newest first. */
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
  if (filter.before !== undefined) query = query.where("attempt.id", "<", filter.before);
  if (filter.failed === true) query = query.where("attempt.outcome", "!=", "delivered");
  return (await query.execute()).map(describeAttempt);
}

/** One attempt with the request that was sent and the headers of the response. Throws Problem not_found. */
export async function webhookDelivery(store: Store, endpointId: string, id: number) {
  const row = await store.read
    .selectFrom("webhook_attempts as attempt")
    .leftJoin("events", "events.id", "attempt.event_id")
    .selectAll("attempt")
    .select(["events.type", "events.subject_id", "events.payload"])
    .where("attempt.endpoint_id", "=", endpointId)
    .where("attempt.id", "=", id)
    .executeTakeFirst();
  if (row === undefined) throw new Problem("not_found", `there is no attempt ${id} of webhook ${endpointId}`);
  return {
    ...describeAttempt(row),
    request: row.payload,
    request_headers: row.request_headers,
    response_headers: row.response_headers,
  };
}

function describeAttempt(
  row: Selectable<WebhookAttemptsTable> & { readonly type: string | null; readonly subject_id: string | null },
) {
  return {
    id: row.id,
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
  };
}
