import type { Static } from "typebox";
import type { EventType } from "#domain/event-types.ts";
import type { Rule } from "#domain/workspace/automation.ts";
import type { DeskSettings, WorkspaceSettings, plans } from "#domain/workspace/settings.ts";
import type { SingleSignOn } from "#domain/workspace/single-sign-on.ts";
import type { Skill } from "#domain/workspace/skill.ts";
import type { FileChannel } from "./errors.ts";
import type { appliedWorkspaceSchema, workspaceSchema } from "./schema.ts";
import { tagOf } from "./sections/audiences.ts";
import type { FileArticle, FileWebsite } from "./sections/documents.ts";
import type { FileAgent, FileTeam } from "./sections/people.ts";
import { listOf } from "./sections/values.ts";
import type { SettingKey } from "./setting-keys.ts";
import { allSettingKeys, settingKeys, takesFalse } from "./setting-keys.ts";

export interface FileWorkspace {
  readonly name: string;
  readonly channels: readonly FileChannel[];
  readonly plan: (typeof plans)[number] | undefined;
  readonly settings: Partial<WorkspaceSettings>;
  readonly webhooks?: readonly FileWebhook[];
  /** Null or absent: none. */
  readonly desk?: DeskSettings | null;
  /** Skills with unencrypted requests. */
  readonly skills?: readonly Skill[];
  readonly rules?: readonly Rule[];
  /** With an unencrypted client secret. Null or absent: none. */
  readonly singleSignOn?: SingleSignOn | null;
  readonly teams?: readonly FileTeam[];
  readonly secondFactorRequired?: boolean | undefined;
  /** Names. Undefined: which channels are paused is not the file's. */
  readonly pausedChannels?: readonly string[] | undefined;
  /** The next three are in files for `config apply` only. */
  readonly agents?: readonly FileAgent[];
  readonly websites?: readonly FileWebsite[];
  readonly articles?: readonly FileArticle[];
}

export interface FileWebhook {
  readonly url: string;
  readonly events?: readonly EventType[];
  readonly enabled?: boolean;
  readonly secret?: string;
}

/** Converts the settings of the file to those of the program. Absent settings stay absent. */
export function workspaceOf(
  given: Static<typeof appliedWorkspaceSchema>,
  declaredChannels: readonly FileChannel[],
): FileWorkspace {
  const settings = allSettingKeys.map((key) => [settingKeys[key], settingOf(key, given)] as const);
  const set = Object.fromEntries(settings.filter(([, value]) => value !== undefined));
  return {
    name: given.name,
    plan: given.plan,
    settings: { ...set, ...(given.saved_replies === undefined ? {} : { savedReplies: given.saved_replies }) },
    channels: declaredChannels,
    webhooks: given.webhooks ?? [],
    desk: deskOf(given.desk),
    secondFactorRequired: given.second_factor_required,
    pausedChannels: given.paused_channels,
    websites: given.websites ?? [],
    articles: given.articles ?? [],
  };
}

function deskOf(desk: Static<typeof workspaceSchema>["desk"]): DeskSettings | null {
  if (desk === undefined) return null;
  const { account, channel, team_channels: teams, mirror = "escalated", reply_mode: replyMode = "implicit" } = desk;
  const teamChannels = teams?.map((team) => ({ channel: team.channel, tags: (listOf(team.tags) ?? []).map(tagOf) }));
  return { account, channel, ...(teamChannels === undefined ? {} : { teamChannels }), mirror, replyMode };
}

/** Business hours and public keys need checks of their own, and are read by the caller. */
function settingOf(key: SettingKey, given: Static<typeof workspaceSchema>): unknown {
  if (key === "business_hours" || key === "identity_public_keys") return undefined;
  if (key === "audiences") return given.audiences && normalAudiences(given.audiences);
  const value = key
    .split(".")
    .reduce<unknown>((at, name) => (at as Readonly<Record<string, unknown>> | undefined)?.[name], given);
  // The file writes `false` for none.
  return value === false && takesFalse(key) ? null : value;
}

const normalAudiences = (audiences: NonNullable<Static<typeof workspaceSchema>["audiences"]>) =>
  Object.fromEntries(Object.entries(audiences).map(([tag, rule]) => [tagOf(tag), rule]));
