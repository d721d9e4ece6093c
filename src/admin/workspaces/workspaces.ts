import { hash, randomBytes } from "node:crypto";
import type { Selectable } from "kysely";
import { newWorkspaceId, parseWorkspaceId } from "#domain/ids.ts";
import type { Actor } from "#domain/conversation/message.ts";
import { Problem } from "#domain/problem.ts";
import type { Plan, WorkspaceSettings } from "#domain/workspace/settings.ts";
import { defaultSettings } from "#domain/workspace/settings.ts";
import type { Clock } from "#runtime/clock.ts";
import type { Store, Tx } from "#database/contract.ts";
import { rescheduleWork } from "#conversations/automation/reschedule-timers.ts";
import { isDuplicate } from "#database/duplicate-key.ts";
import { insertWork } from "#database/queries/outbox.ts";
import { lockWorkspace } from "#database/queries/workspaces.ts";
import type { WorkspacesTable } from "#database/schema/tables.ts";
import { addBuiltinAccounts } from "#database/queries/accounts/accounts.ts";
import { replaceDeskAccounts } from "#admin/channels/desk-accounts.ts";
import type { AccountDependencies } from "#admin/channels/provisioning.ts";
import { provisionAccounts, requireAccounts } from "#admin/channels/provisioning.ts";
import type { FileWorkspace } from "#config/workspace.ts";
import type { Secrets } from "#runtime/secrets.ts";
import { fileActor, recordChange } from "#admin/audit.ts";
import { requireWorkspace } from "#admin/api-keys.ts";
import { settingEntries } from "#admin/settings/entries.ts";
import { requirePlanFor } from "./plan.ts";
import { declaredSettings, endingSettings } from "./declared-settings.ts";
import { endPasswordSessions } from "#admin/sign-in/provider/agents-of-provider.ts";
import { sealedProvider } from "#admin/sign-in/provider/provider-settings.ts";
import { sealedSkills } from "./skills.ts";

/** The plan of a new workspace by default. */
const newPlan: Plan = "business";

export interface CreatedWorkspace {
  readonly id: string;
  readonly name: string;
  readonly plan: Plan;
  /** The key of `user.hash`; for the company's own servers only. */
  readonly identity_secret: string;
}

interface NewWorkspace {
  readonly name: string;
  readonly plan?: Plan | undefined;
  readonly settings?: Partial<WorkspaceSettings>;
  readonly declaredAs?: string;
  /** JSON: the names of the settings that the configuration file declares. */
  readonly declaredSettings?: string;
}

interface CreationDependencies {
  readonly store: Store;
  readonly clock: Clock;
  readonly secrets: Secrets;
}

export function createWorkspace(
  { store, clock, secrets }: CreationDependencies,
  given: NewWorkspace,
): Promise<CreatedWorkspace> {
  return store.write((tx) => newWorkspace(tx, { clock, secrets }, given));
}

/** Creates a workspace in the caller's transaction. */
export async function newWorkspace(
  tx: Tx,
  { clock, secrets }: Omit<CreationDependencies, "store">,
  given: NewWorkspace,
): Promise<CreatedWorkspace> {
  const name = given.name.trim();
  if (name === "" || name.length > 200) throw new Problem("invalid_parameter", "name: use 1 to 200 characters");
  const id = newWorkspaceId();
  const plan = given.plan ?? newPlan;
  const secret = newIdentitySecret();
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
      declared_settings: given.declaredSettings ?? "[]",
    })
    .execute();
  await addBuiltinAccounts(tx, id, now);
  return { id, name, plan, identity_secret: secret };
}

const newIdentitySecret = (): string => randomBytes(32).toString("hex");

/**
 * Gives a workspace a new identity secret. The result has the only unencrypted copy. Hashes made with the previous secret
 * become invalid.
 */
export async function rotateIdentitySecret(
  { store, clock, secrets }: { readonly store: Store; readonly clock: Clock; readonly secrets: Pick<Secrets, "seal"> },
  id: string,
  by: Actor,
): Promise<string> {
  const secret = newIdentitySecret();
  await store.write(async (tx) => {
    await tx
      .updateTable("workspaces")
      .set({ identity_secret: secrets.seal(secret) })
      .where("id", "=", id)
      .execute();
    const subject = "the identity secret";
    await recordChange(tx, { workspaceId: id, by, action: "secret_rotated", subject, now: clock.now() });
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

/** A workspace that can be deleted: an existing one, or one whose deletion was interrupted. */
export async function requireDeletable(store: Store, given: string) {
  const row = await store.read
    .selectFrom("workspaces")
    .select(["id", "name", "deleted_at"])
    .where("id", "=", parseWorkspaceId(given) ?? "")
    .executeTakeFirst();
  // The deletion clears the name last.
  return row === undefined || row.deleted_at === null || row.name === "" ? requireWorkspace(store, given) : row;
}

/** Creates and updates the file's workspaces, by name, with their settings and channels. */
export async function provisionWorkspaces(
  dependencies: AccountDependencies,
  workspaces: readonly FileWorkspace[],
): Promise<void> {
  await requireAccounts(dependencies.load, workspaces);
  const ids: string[] = [];
  for (const workspace of workspaces) {
    // Another process that starts with the same file may create the workspace first.
    const id = await againIfDuplicate(() => provisionWorkspace(dependencies, workspace));
    await againIfDuplicate(() => provisionAccounts(dependencies, id, workspace));
    ids.push(id);
  }
  // The channels of a workspace that was removed or renamed in the file must stop.
  await dependencies.store.write(async (tx) => {
    // The settings of a workspace that the file no longer names can be changed elsewhere again.
    let free = tx
      .updateTable("workspaces")
      .set({ declared_settings: "[]" })
      .where((eb) => eb.or([eb("declared_settings", "is", null), eb("declared_settings", "!=", "[]")]));
    if (ids.length > 0) free = free.where("id", "not in", ids);
    await free.execute();
    let disable = tx
      .updateTable("accounts")
      .set((eb) => ({ enabled: 0, revision: eb("revision", "+", 1) }))
      .where("managed_by", "=", "file")
      .where("enabled", "=", 1);
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

async function provisionWorkspace(dependencies: AccountDependencies, given: FileWorkspace): Promise<string> {
  const { store, clock } = dependencies;
  const { name, plan } = given;
  const known = await store.read
    .selectFrom("workspaces")
    .selectAll()
    .where("name", "=", name)
    .where("deleted_at", "is", null)
    .executeTakeFirst();
  if (known === undefined) {
    const { settings, names } = declaration(dependencies.secrets, given, undefined);
    const declaredAs = hash("sha256", name.trim());
    return (await createWorkspace(dependencies, { name, plan, settings, declaredAs, declaredSettings: names })).id;
  }
  if (!declaration(dependencies.secrets, given, known).isNew) return known.id;
  await store.write(async (tx) => {
    // The dashboard may have changed other settings in the meantime.
    const row = await lockWorkspace(tx, known.id);
    if (row === undefined) return;
    const { settings, names } = declaration(dependencies.secrets, given, row);
    const before = JSON.parse(row.settings) as Partial<WorkspaceSettings>;
    await tx
      .updateTable("workspaces")
      .set({ settings: JSON.stringify(settings), plan: plan ?? row.plan, declared_settings: names })
      .where("id", "=", known.id)
      .execute();
    await replaceDeskAccounts(tx, known.id, before, settings);
    const now = clock.now();
    const change = { workspaceId: known.id, by: fileActor, now };
    for (const entry of settingEntries(before, settings)) await recordChange(tx, { ...change, ...entry });
    if (plan !== undefined && plan !== row.plan) {
      await recordChange(tx, { ...change, action: "workspace_changed", subject: "plan", from: row.plan, to: plan });
    }
    await insertWork(tx, [rescheduleWork(known.id, now)], now);
    if (settings.singleSignOn?.required === true) await endPasswordSessions(tx, known.id, now);
  });
  return known.id;
}

/** The settings of a workspace with those that the file declares. Throws a Problem if the plan does not allow them. */
function declaration(
  secrets: Secrets,
  file: FileWorkspace,
  known: Pick<Selectable<WorkspacesTable>, "settings" | "plan" | "declared_settings"> | undefined,
) {
  const { plan, settings: given, skills = [], rules = [], desk = null, singleSignOn = null } = file;
  const before = JSON.parse(known?.settings ?? "{}") as Partial<WorkspaceSettings>;
  const declaredBefore = known === undefined ? [] : declaredSettings(known.declared_settings);
  const declared: Partial<WorkspaceSettings> = {
    ...given,
    ...(desk === null ? {} : { desk }),
    ...(skills.length === 0 ? {} : { skills: sealedSkills(secrets, skills, before.skills ?? []) }),
    ...(rules.length === 0 ? {} : { rules }),
    ...(singleSignOn === null ? {} : { singleSignOn: sealedProvider(secrets, singleSignOn, before.singleSignOn) }),
  };
  // Skills, rules, saved replies, the desk and the provider end with their declaration. Other settings keep the file's last value.
  const dropped = endingSettings.filter((each) => declaredBefore.includes(each) && declared[each] === undefined);
  const changed = { ...Object.fromEntries(dropped.map((each) => [each, defaultSettings[each]])), ...declared };
  // The file may lower the plan, but the plan must have the features that the file uses.
  requirePlanFor(plan ?? known?.plan ?? newPlan, changed);
  const settings = { ...before, ...changed };
  const others = (["plan", "pausedChannels", "secondFactorRequired"] as const).filter(
    (name) => file[name] !== undefined,
  );
  const names = JSON.stringify([...Object.keys(declared), ...others].toSorted());
  const isNew =
    JSON.stringify(settings) !== known?.settings ||
    names !== known.declared_settings ||
    (plan ?? known.plan) !== known.plan;
  return { settings, names, isNew };
}
