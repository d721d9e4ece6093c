import type { Actor } from "#domain/conversation/message.ts";
import { Problem } from "#domain/problem.ts";
import type { WorkspaceSettings } from "#domain/workspace/settings.ts";
import { settingsOf } from "#domain/workspace/settings.ts";
import type { Secrets } from "#runtime/secrets.ts";
import type { Tx } from "#database/contract.ts";
import { deleteEndpoint, emptyQueue } from "#database/queries/webhooks.ts";
import { loadAdapter } from "#channels/load-adapter.ts";
import { namesOfWorkspaces, readConfigFile } from "#config/file.ts";
import { allSettingKeys, settingKeys } from "#config/setting-keys.ts";
import type { FileWorkspace } from "#config/workspace.ts";
import { operatorActor } from "#admin/audit.ts";
import { requireAccounts } from "#admin/channels/provisioning.ts";
import type { Change, StoredWorkspace } from "#admin/settings/change.ts";
import { changeSettingsIn, requireOwn } from "#admin/settings/change.ts";
import { settingEntries } from "#admin/settings/entries.ts";
import { requireHours } from "#admin/settings/settings.ts";
import { requirePlanFor } from "#admin/workspaces/plan.ts";
import { endPasswordSessions } from "#admin/sign-in/provider/agents-of-provider.ts";
import { sealedProvider } from "#admin/sign-in/provider/provider-settings.ts";
import { sealedSkills } from "#admin/workspaces/skills.ts";
import { newWorkspace } from "#admin/workspaces/workspaces.ts";
import { applyAgents } from "./apply-agents.ts";
import { applyPeople } from "./apply-people.ts";
import { applyAccounts, requirePublicChannels } from "./apply-accounts.ts";
import { applyDocuments, requireDocuments } from "./apply-documents.ts";
import { applyWebhooks } from "./apply-webhooks.ts";
import type { ApplyDependencies } from "./dependencies.ts";
import { exportConfig } from "./export-config.ts";

const by: Actor = { ...operatorActor, id: "config apply" };

export interface ApplyOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  /**
   * Removes what the file does not name, and gives settings that it does not name their defaults. Agents, documents,
   * channels and the desk stay.
   */
  readonly prune: boolean;
}

export interface AppliedWorkspace {
  readonly id: string;
  readonly name: string;
  /** Addresses of new agents. */
  readonly invited: readonly string[];
  /** Number of websites and articles that were added or changed. */
  readonly documents: number;
}

/**
 * Makes the dashboard's state of the named workspaces as the file says; each is changed in one transaction, and its
 * websites and articles after it. A secret whose variable is not set stays as it is stored. Throws a FileError with lines
 * for a wrong file.
 */
export async function applyConfig(
  dependencies: ApplyDependencies,
  file: string,
  content: string,
  { env, prune }: ApplyOptions,
): Promise<readonly AppliedWorkspace[]> {
  const { store, secrets } = dependencies;
  const known = await store.read
    .selectFrom("workspaces")
    .select(["id", "name"])
    .where("deleted_at", "is", null)
    .where("name", "in", ["", ...namesOfWorkspaces(content, env)])
    .orderBy("created_at")
    .execute();
  const stored = await exportConfig(
    { read: store.read, secrets },
    known.map(({ id }) => id),
  );
  const { workspaces } = readConfigFile(file, content, { ...Object.fromEntries(stored.variables), ...env }, "applied");
  await requireAccounts(loadAdapter, workspaces);
  await requirePublicChannels(dependencies, workspaces);
  for (const workspace of workspaces) requireDocuments(workspace);
  const applied: AppliedWorkspace[] = [];
  for (const workspace of workspaces) {
    const id = known.find(({ name }) => name === workspace.name)?.id;
    const result = await store.write((tx) => applyWorkspace(tx, dependencies, id, workspace, prune));
    for (const endpoint of result.webhooks.ended) await deleteEndpoint(store, endpoint);
    for (const endpoint of result.webhooks.disabled) await emptyQueue(store, endpoint);
    const documents = await applyDocuments(dependencies, { workspaceId: result.id, by }, workspace);
    applied.push({ id: result.id, name: workspace.name, invited: result.invited, documents });
  }
  return applied;
}

async function applyWorkspace(
  tx: Tx,
  dependencies: ApplyDependencies,
  known: string | undefined,
  workspace: FileWorkspace,
  prune: boolean,
) {
  const { clock, secrets } = dependencies;
  const now = clock.now();
  const id = known ?? (await newWorkspace(tx, { clock, secrets }, { name: workspace.name, plan: workspace.plan })).id;
  await applyAccounts(tx, dependencies, { workspaceId: id, by, channels: workspace.channels, now });
  await changeSettingsIn(tx, { workspaceId: id, by }, now, (stored) =>
    appliedSettings(secrets, stored, workspace, prune),
  );
  const invited = await applyAgents(tx, { workspaceId: id, by, now }, workspace.agents ?? [], dependencies.mail);
  await applyPeople(tx, { workspaceId: id, by, now }, workspace, prune);
  if (workspace.singleSignOn?.required === true) await endPasswordSessions(tx, id, now);
  const webhooks = await applyWebhooks(tx, dependencies, {
    id,
    by,
    now,
    prune,
    webhooks: workspace.webhooks ?? [],
  });
  return { id, webhooks, invited };
}

function appliedSettings(
  secrets: Secrets,
  workspace: StoredWorkspace,
  { plan, settings: given, skills = [], rules = [], desk = null, singleSignOn = null }: FileWorkspace,
  prune: boolean,
): Change<void> {
  if (plan !== undefined && plan !== workspace.plan) {
    throw new Problem(
      "invalid_parameter",
      `${workspace.name}: its plan is ${workspace.plan}. Change it with: parley workspace set ${workspace.id} plan=${plan}`,
    );
  }
  const before = workspace.stored;
  const named: Partial<WorkspaceSettings> = {
    ...given,
    ...(desk === null ? {} : { desk }),
    ...(skills.length === 0
      ? {}
      : { skills: merged(sealedSkills(secrets, skills, before.skills ?? []), before.skills, prune) }),
    ...(rules.length === 0 ? {} : { rules: merged(rules, before.rules, prune) }),
    ...(singleSignOn === null ? {} : { singleSignOn: sealedProvider(secrets, singleSignOn, before.singleSignOn) }),
    ...(given.macros === undefined ? {} : { macros: merged(given.macros, before.macros, prune) }),
    ...(given.savedReplies === undefined || prune
      ? {}
      : { savedReplies: { ...before.savedReplies, ...given.savedReplies } }),
  };
  for (const name of Object.keys(named) as (keyof WorkspaceSettings)[]) {
    requireOwn(workspace, name, `${workspace.name}: ${fileNameOf(name)}`);
  }
  // Settings of the configuration file and the desk, which belongs to a channel, are not pruned.
  const kept = Object.entries(before).filter(([name]) => !prune || workspace.declared.has(name) || name === "desk");
  const stored: Partial<WorkspaceSettings> = { ...Object.fromEntries(kept), ...named };
  requirePlanFor(workspace.plan, stored);
  requireHours(settingsOf(stored));
  return { stored, entries: settingEntries(before, stored), result: undefined };
}

/** The key of a setting in the file. */
const fileNameOf = (name: keyof WorkspaceSettings): string =>
  allSettingKeys.find((key) => settingKeys[key] === name) ?? listNames[name] ?? name;

const listNames: Readonly<Partial<Record<keyof WorkspaceSettings, string>>> = {
  savedReplies: "saved_replies",
  singleSignOn: "single_sign_on",
};

/** The file's things in its order, and behind them others, unless they are pruned. */
function merged<T extends { readonly name: string }>(
  given: readonly T[],
  before: readonly T[] = [],
  prune: boolean,
): readonly T[] {
  return prune ? given : [...given, ...before.filter(({ name }) => given.every((each) => each.name !== name))];
}
