import { isDeepStrictEqual } from "node:util";
import { hash } from "node:crypto";
import { newApiKey, newId, parseWorkspaceId } from "#domain/ids.ts";
import { requireFeature } from "#domain/workspace/plan.ts";
import { Problem } from "#domain/problem.ts";
import { limitsOf, storedSettings } from "#domain/workspace/settings.ts";
import type { Actor } from "#domain/conversation/message.ts";
import type { Plan } from "#domain/workspace/settings.ts";
import { dialectOf } from "#database/dialects/dialect.ts";
import { operatorActor, recordChange } from "./audit.ts";
import { requireRoom } from "./workspaces/caps.ts";
import type { Clock } from "#runtime/clock.ts";
import type { Store } from "#database/contract.ts";

export interface NewKey {
  readonly workspaceId: string;
  readonly name: string;
  readonly limitMinute?: number | undefined;
  readonly limitDay?: number | undefined;
  /** Epoch milliseconds. */
  readonly expiresAt?: number | undefined;
  /** The author, for the audit log. Absent: the operator. */
  readonly by?: Actor;
}

/** The workspace of this id; `ws_…` is accepted as well. Throws if there is none. */
export async function requireWorkspace(store: Store, given: string) {
  const id = parseWorkspaceId(given);
  if (id === undefined)
    throw new Problem("invalid_workspace_id", `"${given}" is not a workspace id: wt_<6 characters>_<characters>`);
  const row = await store.read
    .selectFrom("workspaces")
    .select(["id", "name", "plan", "settings"])
    .where("id", "=", id)
    .where("deleted_at", "is", null)
    .executeTakeFirst();
  if (row === undefined) throw new Problem("workspace_not_found", `there is no workspace ${id}`);
  return row;
}

/** Creates a key. Only its hash is stored, so the result has the only copy of its text. */
export async function createKey(store: Store, clock: Clock, given: NewKey) {
  const workspace = await requireWorkspace(store, given.workspaceId);
  if (given.name.trim() === "") throw new Problem("invalid_parameter", "name: a key needs one");
  if (given.limitMinute !== undefined || given.limitDay !== undefined) requireFeature(workspace.plan, "keyLimits");
  if (given.expiresAt !== undefined) requireFeature(workspace.plan, "keyExpiry");
  checkLimits(workspace, given);
  const key = newApiKey(workspace.id);
  const now = clock.now();
  const id = newId("key", now);
  const name = given.name.trim();
  await store.write(async (tx) => {
    await requireRoom(tx, workspace.id, "API keys");
    await tx
      .insertInto("api_keys")
      .values({
        id,
        workspace_id: workspace.id,
        name,
        hash: hash("sha256", key),
        hint: key.slice(-4),
        limit_minute: given.limitMinute ?? null,
        limit_day: given.limitDay ?? null,
        expires_at: given.expiresAt ?? null,
        revoked_at: null,
        created_at: now,
      })
      .execute();
    const { by = operatorActor } = given;
    await recordChange(tx, { workspaceId: workspace.id, by, action: "api_key_added", subject: name, now });
  });
  return { id, key, workspace_id: workspace.id, name };
}

function checkLimits(
  { plan, settings }: { readonly plan: Plan; readonly settings: string },
  given: Pick<NewKey, "limitMinute" | "limitDay">,
): void {
  const limits = limitsOf(plan, storedSettings(settings));
  checkLimit("limit_minute", given.limitMinute, limits.perMinute);
  checkLimit("limit_day", given.limitDay, limits.perDay);
}

function checkLimit(name: string, value: number | undefined, max: number): void {
  if (value === undefined) return;
  if (!Number.isInteger(value) || value < 1 || value > max) {
    throw new Problem("invalid_parameter", `${name}: use a whole number from 1 to the workspace's ${max}`);
  }
}

export async function listKeys(store: Store, workspaceId: string) {
  const workspace = await requireWorkspace(store, workspaceId);
  const rows = await store.read
    .selectFrom("api_keys")
    .selectAll()
    .where("workspace_id", "=", workspace.id)
    .where("client_secret", "is", null)
    .orderBy("created_at")
    .execute();
  const iso = (at: number | null) => (at === null ? null : new Date(at).toISOString());
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    hint: `…${row.hint}`,
    limit_minute: row.limit_minute,
    limit_day: row.limit_day,
    created_at: iso(row.created_at),
    expires_at: iso(row.expires_at),
    revoked_at: iso(row.revoked_at),
    last_used_at: iso(row.last_used_at),
  }));
}

/** Later requests with the key are refused. A revoked key stays revoked since its first revocation. */
export async function revokeKey(store: Store, clock: Clock, id: string, by: Actor = operatorActor): Promise<void> {
  const key = await requireKey(store, id);
  const now = clock.now();
  await store.write(async (tx) => {
    const { numUpdatedRows } = await tx
      .updateTable("api_keys")
      .set({ revoked_at: now })
      .where("id", "=", id)
      .where("revoked_at", "is", null)
      .executeTakeFirst();
    if (numUpdatedRows === 0n) return;
    await tx.deleteFrom("oauth_tokens").where("key_id", "=", id).execute();
    const { workspace_id: workspaceId, name: subject } = key;
    await recordChange(tx, {
      workspaceId,
      by,
      action: key.client_secret === null ? "api_key_revoked" : "oauth_client_revoked",
      subject,
      now,
    });
  });
}

/** `workspaceId`: throws Problem not_found for a key of another workspace, too. */
export async function requireKey(store: Store, id: string, workspaceId?: string) {
  const key = await store.read.selectFrom("api_keys").selectAll().where("id", "=", id).executeTakeFirst();
  if (key === undefined || (workspaceId !== undefined && key.workspace_id !== workspaceId)) {
    throw new Problem("not_found", `there is no key ${id}`);
  }
  return key;
}

/** Absent values stay. "plan" removes a limit of the key's own. */
export interface KeyChange {
  readonly name?: string | undefined;
  readonly limitMinute?: number | "plan" | undefined;
  readonly limitDay?: number | "plan" | undefined;
}

/** Changes the name and the limits of a key. */
export async function changeKey(
  store: Store,
  clock: Clock,
  id: string,
  given: KeyChange,
  by: Actor = operatorActor,
): Promise<void> {
  const { workspace_id: workspaceId } = await requireKey(store, id);
  const workspace = await requireWorkspace(store, workspaceId);
  const { limitMinute, limitDay } = given;
  if (isNumber(limitMinute) || isNumber(limitDay)) requireFeature(workspace.plan, "keyLimits");
  checkLimits(workspace, {
    limitMinute: isNumber(limitMinute) ? limitMinute : undefined,
    limitDay: isNumber(limitDay) ? limitDay : undefined,
  });
  const describe = ({ name, limit_minute: minute, limit_day: day }: KeyLimits): string =>
    `${name}, ${minute ?? "the plan's"} a minute, ${day ?? "the plan's"} a day`;
  await store.write(async (tx) => {
    const query = tx.selectFrom("api_keys").select(["name", "limit_minute", "limit_day"]).where("id", "=", id);
    const before = await (dialectOf(tx) === "mysql" ? query.forUpdate() : query).executeTakeFirstOrThrow();
    const after = {
      name: given.name?.trim() ?? before.name,
      limit_minute: limitOf(limitMinute, before.limit_minute),
      limit_day: limitOf(limitDay, before.limit_day),
    };
    if (isDeepStrictEqual(after, before)) return;
    await tx.updateTable("api_keys").set(after).where("id", "=", id).execute();
    await recordChange(tx, {
      workspaceId,
      by,
      action: "api_key_changed",
      subject: after.name,
      from: describe(before),
      to: describe(after),
      now: clock.now(),
    });
  });
}

const useEveryMs = 60_000;

/** Stores the last use of a key, to the minute. Must not be called before the key was accepted. */
export async function recordKeyUse(
  store: Store,
  { keyId, lastUsedAt }: { readonly keyId: string; readonly lastUsedAt: number | null },
  now: number,
): Promise<void> {
  if (lastUsedAt !== null && now - lastUsedAt < useEveryMs && now >= lastUsedAt) return;
  await store.write((tx) => tx.updateTable("api_keys").set({ last_used_at: now }).where("id", "=", keyId).execute());
}

interface KeyLimits {
  readonly name: string;
  readonly limit_minute: number | null;
  readonly limit_day: number | null;
}

const isNumber = (limit: number | "plan" | undefined): limit is number => typeof limit === "number";

const limitOf = (given: number | "plan" | undefined, before: number | null): number | null =>
  given === undefined ? before : given === "plan" ? null : given;
