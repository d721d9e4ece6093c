import { hash, randomBytes } from "node:crypto";
import { newWorkspaceId, parseWorkspaceId } from "#domain/ids.ts";
import { Problem } from "#domain/problem.ts";
import type { Plan, WorkspaceSettings } from "#domain/workspace/settings.ts";
import type { Clock } from "#runtime/clock.ts";
import type { Store } from "#database/contract.ts";
import { rescheduleWork } from "#conversations/automation/reschedule-timers.ts";
import { isDuplicate } from "#database/duplicate-key.ts";
import { insertWork } from "#database/queries/outbox.ts";
import { addBuiltinAccounts } from "#database/queries/accounts.ts";
import type { AccountDependencies } from "#admin/channels.ts";
import { provisionAccounts, requireAccounts } from "#admin/channels.ts";
import type { FileWorkspace } from "#config/file.ts";
import type { Secrets } from "#runtime/secrets.ts";
import { noteAction } from "#admin/audit.ts";
import { requireWorkspace } from "#admin/api-keys.ts";
import { requirePlanFor } from "./plan.ts";
import { sealedSkills } from "./skills.ts";

/** The plan of a workspace that was not given one. */
const newPlan: Plan = "business";

export interface CreatedWorkspace {
  readonly id: string;
  readonly name: string;
  readonly plan: Plan;
  /** The key of `user.hash`; for the company's own servers only. */
  readonly identity_secret: string;
}

export async function createWorkspace(
  { store, clock, secrets }: { readonly store: Store; readonly clock: Clock; readonly secrets: Secrets },
  given: {
    readonly name: string;
    readonly plan?: Plan | undefined;
    readonly settings?: Partial<WorkspaceSettings>;
    readonly declaredAs?: string;
  },
): Promise<CreatedWorkspace> {
  const name = given.name.trim();
  if (name === "" || name.length > 200) throw new Problem("invalid_parameter", "name: use 1 to 200 characters");
  const id = newWorkspaceId();
  const plan = given.plan ?? newPlan;
  const secret = newIdentitySecret();
  await store.write(async (tx) => {
    const now = clock.now();
    await tx
      .insertInto("workspaces")
      .values({
        id,
        name,
        plan,
        identity_secret: secrets.seal(secret),
        settings: JSON.stringify(given.settings ?? {}),
        knowledge_version: 0,
        created_at: now,
        deleted_at: null,
        declared_as: given.declaredAs ?? null,
      })
      .execute();
    await addBuiltinAccounts(tx, id, now);
  });
  return { id, name, plan, identity_secret: secret };
}

const newIdentitySecret = (): string => randomBytes(32).toString("hex");

/**
 * Gives a workspace a new identity secret, which is in the result and in the clear nowhere else. Hashes made with the
 * one before prove nothing any more.
 */
export async function rotateIdentitySecret(
  { store, clock, secrets }: { readonly store: Store; readonly clock: Clock; readonly secrets: Secrets },
  id: string,
): Promise<string> {
  const secret = newIdentitySecret();
  await store.write(async (tx) => {
    await tx
      .updateTable("workspaces")
      .set({ identity_secret: secrets.seal(secret) })
      .where("id", "=", id)
      .execute();
    const detail = "the identity secret";
    await noteAction(tx, { workspaceId: id, action: "secret_rotated", by: "operator", detail, now: clock.now() });
  });
  return secret;
}

export async function listWorkspaces(store: Store) {
  const rows = await store.read
    .selectFrom("workspaces")
    .select(["id", "name", "plan", "created_at"])
    .where("deleted_at", "is", null)
    .orderBy("created_at")
    .execute();
  return rows.map(({ created_at, ...row }) => ({ ...row, created_at: new Date(created_at).toISOString() }));
}

/** A workspace that can be deleted: one that is there, or one whose deletion was interrupted. */
export async function requireDeletable(store: Store, given: string) {
  const row = await store.read
    .selectFrom("workspaces")
    .select(["id", "name", "deleted_at"])
    .where("id", "=", parseWorkspaceId(given) ?? "")
    .executeTakeFirst();
  // The name goes last.
  return row === undefined || row.deleted_at === null || row.name === "" ? requireWorkspace(store, given) : row;
}

/** Makes the workspaces of the configuration file, by name, and gives them its settings and its channels. */
export async function provisionWorkspaces(
  dependencies: AccountDependencies,
  workspaces: readonly FileWorkspace[],
): Promise<void> {
  await requireAccounts(dependencies.load, workspaces);
  const ids: string[] = [];
  for (const workspace of workspaces) {
    // Another process that starts with the same file may be first, and then has made the same.
    const id = await againIfDuplicate(() => provisionWorkspace(dependencies, workspace));
    await againIfDuplicate(() => provisionAccounts(dependencies, id, workspace.channels));
    ids.push(id);
  }
  // A workspace that is not in the file any more, or has another name there, must not go on with its channels beside it.
  await dependencies.store.write(async (tx) => {
    let disable = tx.updateTable("accounts").set({ enabled: 0 }).where("managed_by", "=", "file");
    if (ids.length > 0) disable = disable.where("workspace_id", "not in", ids);
    await disable.execute();
  });
}

async function againIfDuplicate<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isDuplicate(error)) throw error;
    return work();
  }
}

async function provisionWorkspace(
  dependencies: AccountDependencies,
  { name, plan, settings: given, skills = [], rules = [], desk = null }: FileWorkspace,
): Promise<string> {
  const known = await dependencies.store.read
    .selectFrom("workspaces")
    .select(["id", "settings", "plan"])
    .where("name", "=", name)
    .where("deleted_at", "is", null)
    .executeTakeFirst();
  const before = JSON.parse(known?.settings ?? "{}") as Partial<WorkspaceSettings>;
  // Skills, rules and saved replies that have left the file are gone, and a desk that is not in it any more is none.
  const held = before.skills !== undefined || skills.length > 0 || before.rules !== undefined || rules.length > 0;
  const settings = {
    ...(before.savedReplies === undefined ? {} : { savedReplies: {} }),
    ...given,
    ...(desk === null && (before.desk ?? null) === null ? {} : { desk }),
    ...(held ? { skills: sealedSkills(dependencies.secrets, skills, before.skills ?? []), rules } : {}),
  };
  // The file's plan is taken as it stands, also a lower one; but it has to have what the file sets.
  requirePlanFor(plan ?? known?.plan ?? newPlan, settings);
  if (known === undefined) {
    const declaredAs = hash("sha256", name.trim());
    return (await createWorkspace(dependencies, { name, plan, settings, declaredAs })).id;
  }
  const next = JSON.stringify({ ...before, ...settings });
  if (next === known.settings && (plan ?? known.plan) === known.plan) return known.id;
  await dependencies.store.write(async (tx) => {
    await tx
      .updateTable("workspaces")
      .set({ settings: next, plan: plan ?? known.plan })
      .where("id", "=", known.id)
      .execute();
    const now = dependencies.clock.now();
    await insertWork(tx, [rescheduleWork(known.id, now)], now);
  });
  return known.id;
}
