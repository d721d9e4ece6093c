import { stringify } from "yaml";
import type { Channel } from "#domain/conversation/message.ts";
import type { Reader } from "#database/contract.ts";
import { typesOf } from "#database/queries/webhooks.ts";
import { fileMacroOf } from "#config/sections/macros.ts";
import { fileRuleOf } from "#config/sections/rule-form.ts";
import { fileSingleSignOnOf } from "#config/sections/single-sign-on.ts";
import { Variable, withoutVariables } from "#config/variables.ts";
import { allSettingKeys, fileValueOf, settingKeys, treeOf } from "#config/setting-keys.ts";
import { loadAdapter } from "#channels/load-adapter.ts";
import type { Documents } from "#knowledge/documents/documents.ts";
import type { Secrets } from "#runtime/secrets.ts";
import { openedSettings, splitSettings } from "#admin/channels/account-settings.ts";
import type { StoredWorkspace } from "#admin/settings/change.ts";
import { readStored } from "#admin/settings/change.ts";
import { requestOf, wholeSkill } from "#admin/settings/skills.ts";
import { readSignInSettings } from "#admin/sign-in/settings.ts";
import { listTeams } from "#admin/team/teams.ts";
import { beingRemoved } from "#admin/webhooks/webhooks.ts";
import { exportArticles, websitesIn } from "./export-documents.ts";

export interface ExportDependencies {
  readonly read: Reader;
  readonly secrets: Secrets;
  /** Absent: without websites and articles. */
  readonly documents?: Pick<Documents, "content">;
}

export interface ExportedConfig {
  /** Without secrets. */
  readonly yaml: string;
  /** The secrets, by the variables of the environment that stand for them. */
  readonly variables: ReadonlyMap<string, string>;
  /** Titles of articles whose text cannot be read. */
  readonly leftOut: readonly string[];
}

/** Gives a secret its variable: the same secret of the same thing always gets the same name. */
type NameSecret = (parts: readonly string[], value: string) => Variable;

/** The dashboard's part of these workspaces as a configuration file, without what the configuration file declares. */
export async function exportConfig(dependencies: ExportDependencies, ids: readonly string[]): Promise<ExportedConfig> {
  const variables = new Map<string, string>();
  const workspaces: object[] = [];
  const leftOut: string[] = [];
  for (const id of ids) {
    const workspace = await readStored(dependencies.read, id);
    const nameSecret: NameSecret = (parts, value) => {
      const name = variableOf([workspace.name, ...parts]);
      let free = name;
      for (let number = 2; variables.has(free); number += 1) free = `${name}_${number}`;
      variables.set(free, value);
      return new Variable(free);
    };
    const documents = await exportDocuments(dependencies, id);
    workspaces.push({ ...(await exportWorkspace(dependencies, workspace, nameSecret)), ...documents.lists });
    leftOut.push(...documents.leftOut);
  }
  const body = stringify(withoutVariables({ workspaces }), { lineWidth: 0, aliasDuplicateObjects: false });
  return { yaml: `${headOf([...variables.keys()])}${body}`, variables, leftOut };
}

function headOf(variables: readonly string[]): string {
  const lines = ["# Exported by: parley config export. Apply it with: parley config apply FILE"];
  if (variables.length > 0) {
    lines.push(
      "# Secrets are not in this file. Set these variables of the environment where it is applied to a workspace that",
      "# does not have them yet:",
      ...variables.map((name) => `#   ${name}`),
    );
  }
  return `${lines.join("\n")}\n`;
}

const variableOf = (parts: readonly string[]): string =>
  parts
    .join("_")
    .toUpperCase()
    .replaceAll(/[^A-Z0-9]+/g, "_")
    .replaceAll(/^_+|_+$/g, "")
    .replace(/^(?=\d|$)/, "W_");

async function exportWorkspace(
  dependencies: ExportDependencies,
  workspace: StoredWorkspace,
  nameSecret: NameSecret,
): Promise<object> {
  const { name, plan, stored, settings, declared } = workspace;
  const isOwn = (setting: string): boolean => !declared.has(setting) && Object.hasOwn(stored, setting);
  const values = allSettingKeys.flatMap((key) => {
    const value = isOwn(settingKeys[key]) ? fileValueOf(key, settings) : null;
    return value === null ? [] : [[key, value] as const];
  });
  const channels = await exportChannels(dependencies, workspace, nameSecret);
  const lists = {
    saved_replies: isOwn("savedReplies") ? stored.savedReplies : undefined,
    macros: isOwn("macros") ? stored.macros?.map(fileMacroOf) : undefined,
    skills: isOwn("skills") ? exportSkills(dependencies.secrets, workspace, nameSecret) : undefined,
    rules: isOwn("rules") ? stored.rules?.map(fileRuleOf) : undefined,
    webhooks: await exportWebhooks(dependencies, workspace.id, nameSecret),
    agents: await exportAgents(dependencies.read, workspace.id),
    teams: await exportTeams(dependencies.read, workspace.id),
    channels: channels.map(({ entry }) => entry),
    paused_channels: await exportPaused(dependencies.read, workspace),
    desk: isOwn("desk") ? exportDesk(workspace, channels) : undefined,
    single_sign_on: isOwn("singleSignOn") ? exportProvider(dependencies.secrets, workspace, nameSecret) : undefined,
  };
  const filled = Object.entries(lists).filter(([, list]) => list !== undefined && Object.keys(list).length > 0);
  const { secondFactorRequired } = await readSignInSettings(dependencies.read, workspace.id);
  const signIn = secondFactorRequired && !declared.has("secondFactorRequired") ? { second_factor_required: true } : {};
  return { name, plan, ...treeOf(Object.fromEntries(values)), ...Object.fromEntries(filled), ...signIn };
}

async function exportAgents(read: Reader, workspaceId: string): Promise<readonly object[]> {
  return read
    .selectFrom("agents")
    .select(["email", "name", "role"])
    .where("workspace_id", "=", workspaceId)
    .orderBy("email")
    .execute();
}

async function exportDocuments({ read, documents }: ExportDependencies, workspaceId: string) {
  if (documents === undefined) return { lists: {}, leftOut: [] };
  const websites = (await websitesIn(read, workspaceId)).map(({ website }) => website);
  const { articles, leftOut } = await exportArticles(read, documents, workspaceId);
  const lists = { ...(websites.length > 0 && { websites }), ...(articles.length > 0 && { articles }) };
  return { lists, leftOut };
}

async function exportTeams(read: Reader, workspaceId: string): Promise<readonly object[]> {
  const agents = await read
    .selectFrom("agents")
    .select(["id", "email"])
    .where("workspace_id", "=", workspaceId)
    .execute();
  const emails = new Map(agents.map(({ id, email }) => [id, email]));
  const own = (await listTeams(read, workspaceId)).filter(({ managedBy }) => managedBy !== "file");
  return own.map(({ name, agentIds, expectedAgents }) => ({
    name,
    agents: [...agentIds.flatMap((id) => emails.get(id) ?? []), ...expectedAgents].toSorted(),
  }));
}

async function exportPaused(read: Reader, { id, declared }: StoredWorkspace): Promise<readonly string[]> {
  const rows = await read
    .selectFrom("accounts")
    .select("name")
    .where("workspace_id", "=", id)
    .where("managed_by", "in", declared.has("pausedChannels") ? ["dashboard"] : ["dashboard", "builtin"])
    .where("removed_at", "is", null)
    .where("paused", "=", 1)
    .orderBy("name")
    .execute();
  return rows.map(({ name }) => name);
}

function exportSkills(secrets: Secrets, { stored }: StoredWorkspace, nameSecret: NameSecret): readonly object[] {
  return (stored.skills ?? []).map((skill) => {
    const whole = wholeSkill(secrets, skill);
    if (skill.kind !== "lookup" || whole.request?.headers === undefined) return whole;
    const headers = Object.entries(requestOf(secrets, skill).headers).map(
      ([header, value]) => [header, nameSecret(["skill", skill.name, header], value)] as const,
    );
    return { ...whole, request: { ...whole.request, headers: Object.fromEntries(headers) } };
  });
}

function exportProvider(secrets: Secrets, { settings: { singleSignOn: provider } }: StoredWorkspace, name: NameSecret) {
  if (provider === null) return undefined;
  const secret = name(["single_sign_on", "client_secret"], secrets.open(provider.clientSecret));
  return { ...fileSingleSignOnOf(provider), client_secret: secret };
}

async function exportWebhooks(
  { read, secrets }: ExportDependencies,
  workspaceId: string,
  nameSecret: NameSecret,
): Promise<readonly object[]> {
  const rows = await read
    .selectFrom("webhooks")
    .selectAll()
    .where("workspace_id", "=", workspaceId)
    .where("managed_by", "!=", "file")
    .where((eb) => eb.or([eb("disabled_reason", "is", null), eb("disabled_reason", "!=", beingRemoved)]))
    .orderBy("created_at")
    .orderBy("id")
    .execute();
  return rows.map((row) => ({
    url: row.url,
    events: typesOf(row),
    ...(row.disabled_at === null ? {} : { enabled: false }),
    secret: nameSecret(["webhook", URL.parse(row.url)?.hostname ?? "", "secret"], secrets.open(row.secret)),
  }));
}

interface ExportedChannel {
  readonly name: string;
  readonly channel: Channel;
  readonly entry: object;
}

async function exportChannels(
  { read, secrets }: ExportDependencies,
  { id }: StoredWorkspace,
  nameSecret: NameSecret,
): Promise<readonly ExportedChannel[]> {
  const rows = await read
    .selectFrom("accounts")
    .selectAll()
    .where("workspace_id", "=", id)
    .where("managed_by", "=", "dashboard")
    .where("removed_at", "is", null)
    .orderBy("name")
    .execute();
  return Promise.all(
    rows.map(async (row): Promise<ExportedChannel> => {
      const { name, channel, enabled } = row;
      const settings = openedSettings(secrets, row);
      const module = await loadAdapter(channel, settings);
      const { open, secret } = splitSettings(module ?? { secrets: [] }, settings);
      const named = Object.entries(secret).map(([key, value]): [string, unknown] => [
        key,
        nameSecret(["channel", name, key], typeof value === "string" ? value : JSON.stringify(value)),
      ]);
      const state = enabled === 1 ? {} : { enabled: false };
      return { name, channel, entry: { name, channel, ...state, ...open, ...Object.fromEntries(named) } };
    }),
  );
}

/** A desk on a channel of the configuration file stays with that file. */
function exportDesk({ settings: { desk } }: StoredWorkspace, channels: readonly ExportedChannel[]): object | undefined {
  const kind = channels.find(({ name }) => name === desk?.account)?.channel;
  if (desk === null || kind === undefined) return undefined;
  const { account, channel, teamChannels, mirror, replyMode } = desk;
  return { kind, account, channel, team_channels: teamChannels, mirror, reply_mode: replyMode };
}
