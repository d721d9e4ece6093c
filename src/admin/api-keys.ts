import { hash } from "node:crypto";
import { newApiKey, newId, parseWorkspaceId } from "#domain/ids.ts";
import { requireFeature } from "#domain/workspace/plan.ts";
import { Problem } from "#domain/problem.ts";
import { limitsOf, storedSettings } from "#domain/workspace/settings.ts";
import type { Clock } from "#runtime/clock.ts";
import type { Store } from "#database/contract.ts";

export interface NewKey {
  readonly workspaceId: string;
  readonly name: string;
  readonly limitMinute?: number | undefined;
  readonly limitDay?: number | undefined;
  /** Epoch milliseconds. */
  readonly expiresAt?: number | undefined;
}

/** The stored workspace, for `ws_…` as well; throws where there is none. */
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

/** Makes a key. Its text is in the result and nowhere else: only a hash is stored. */
export async function createKey(store: Store, clock: Clock, given: NewKey) {
  const workspace = await requireWorkspace(store, given.workspaceId);
  if (given.name.trim() === "") throw new Problem("invalid_parameter", "name: a key needs one");
  if (given.limitMinute !== undefined || given.limitDay !== undefined) requireFeature(workspace.plan, "keyLimits");
  if (given.expiresAt !== undefined) requireFeature(workspace.plan, "keyExpiry");
  const limits = limitsOf(workspace.plan, storedSettings(workspace.settings));
  checkLimit("limit-minute", given.limitMinute, limits.perMinute);
  checkLimit("limit-day", given.limitDay, limits.perDay);
  const key = newApiKey(workspace.id);
  const now = clock.now();
  const id = newId("key", now);
  await store.write((tx) =>
    tx
      .insertInto("api_keys")
      .values({
        id,
        workspace_id: workspace.id,
        name: given.name.trim(),
        hash: hash("sha256", key),
        hint: key.slice(-4),
        limit_minute: given.limitMinute ?? null,
        limit_day: given.limitDay ?? null,
        expires_at: given.expiresAt ?? null,
        revoked_at: null,
        created_at: now,
      })
      .execute(),
  );
  return { id, key, workspace_id: workspace.id, name: given.name.trim() };
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
  }));
}

export async function revokeKey(store: Store, clock: Clock, id: string): Promise<void> {
  const known = await store.read.selectFrom("api_keys").select("id").where("id", "=", id).executeTakeFirst();
  if (known === undefined) throw new Problem("not_found", `there is no key ${id}`);
  await store.write((tx) =>
    tx
      .updateTable("api_keys")
      .set({ revoked_at: clock.now() })
      .where("id", "=", id)
      .where("revoked_at", "is", null)
      .execute(),
  );
}
