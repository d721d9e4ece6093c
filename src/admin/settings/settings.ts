import { isDeepStrictEqual } from "node:util";
import { Problem } from "#domain/problem.ts";
import type { WorkspaceSettings } from "#domain/workspace/settings.ts";
import { planRetentionDays } from "#domain/workspace/plans.ts";
import { limitsOf, settingsOf } from "#domain/workspace/settings.ts";
import { spokenLanguages } from "#language/locale.ts";
import { locales } from "#language/locales.ts";
import type { Clock } from "#runtime/clock.ts";
import type { Reader } from "#database/contract.ts";
import { modelTokensUsed } from "#database/queries/counters.ts";
import type { SettingKey } from "#config/setting-keys.ts";
import {
  allSettingKeys,
  fileDefaultOf,
  fileValueOf,
  settingKeys,
  settingSchema,
  treeOf,
} from "#config/setting-keys.ts";
import { requirePlanFor } from "#admin/workspaces/plan.ts";
import type { Change, Edit, Entry, SettingsDependencies, StoredWorkspace } from "./change.ts";
import { changeSettings, readStored, requireOwn } from "./change.ts";
import { checkedWorkspace, forPeople } from "./check.ts";

export interface Setting {
  /** In the configuration file's form; null: none. */
  readonly value: unknown;
  readonly default: unknown;
  readonly managed_by_file: boolean;
  readonly description: string;
}

/** Every setting by its key in the configuration file, and the use of the language model. */
export async function listSettings(db: Reader, clock: Clock, workspaceId: string) {
  const [stored, modelTokens] = await Promise.all([
    readStored(db, workspaceId),
    modelTokensUsed(db, workspaceId, clock.now()),
  ]);
  return { ...describeSettings(stored), model_tokens_this_month: modelTokens };
}

function describeSettings({ id, name, plan, settings, declared }: StoredWorkspace) {
  const entries = allSettingKeys.map((key): [string, Setting] => [
    key,
    {
      value: fileValueOf(key, settings),
      default: fileDefaultOf(key),
      managed_by_file: declared.has(settingKeys[key]),
      description: (settingSchema(key) as { readonly description?: string }).description ?? "",
    },
  ]);
  const { perMinute, perDay, queriesPerMonth } = limitsOf(plan, {});
  return {
    workspace: { id, name },
    plan: {
      name: plan,
      limit_minute: perMinute,
      limit_day: perDay,
      queries_per_month: Number.isFinite(queriesPerMonth) ? queriesPerMonth : null,
      retention_days: planRetentionDays[plan],
      managed_by_file: declared.has("plan"),
    },
    settings: Object.fromEntries(entries),
  };
}

/** The bot's own sentences, by language. */
export const builtInTexts = () =>
  Object.fromEntries(spokenLanguages.map((language) => [language, locales[language].bot ?? {}]));

export interface SettingsUpdate {
  /** Values as in the configuration file, by key. */
  readonly settings: Readonly<Partial<Record<SettingKey, unknown>>>;
  /** Settings that get their defaults. */
  readonly reset: readonly SettingKey[];
  /** The values that were read before, of settings that must not have changed since. */
  readonly was?: Readonly<Partial<Record<SettingKey, unknown>>>;
}

/** Changes all of the settings, or none. Throws Problem edit_conflict. */
export function updateSettings(dependencies: SettingsDependencies, edit: Edit, update: SettingsUpdate) {
  const values = checkedWorkspace(treeOf(update.settings)).settings;
  return changeSettings(dependencies, edit, (workspace) => updated(workspace, values, update));
}

function updated(
  workspace: StoredWorkspace,
  values: Partial<WorkspaceSettings>,
  { settings: given, reset, was = {} }: SettingsUpdate,
): Change<undefined> {
  const keys = allSettingKeys.filter((key) => given[key] !== undefined || reset.includes(key));
  for (const key of keys) requireOwn(workspace, settingKeys[key], key);
  const changed = keys.find(
    (key) => key in was && !isDeepStrictEqual(fileValueOf(key, workspace.settings) ?? null, was[key] ?? null),
  );
  if (changed !== undefined) {
    throw new Problem("edit_conflict", `${changed}: somebody else has changed this. Load the page again.`);
  }
  const removed: ReadonlySet<string> = new Set(reset.map((key) => settingKeys[key]));
  const kept = Object.entries(workspace.stored).filter(([name]) => !removed.has(name));
  const stored: Partial<WorkspaceSettings> = { ...Object.fromEntries(kept), ...values };
  const settings = settingsOf(stored);
  requirePlanFor(workspace.plan, values);
  requireHours(settings);
  const entries = keys.flatMap((key): Entry[] => {
    const [from, to] = [fileValueOf(key, workspace.settings), fileValueOf(key, settings)];
    if (isDeepStrictEqual(from, to)) return [];
    return [{ action: "settings_changed", subject: key, from: forPeople(from), to: forPeople(to) }];
  });
  return { stored, entries, result: undefined };
}

/** Rules and skills that use business hours would do nothing without them. */
export function requireHours({ businessHours, rules, skills }: WorkspaceSettings): void {
  if (businessHours !== null) return;
  const rule = rules.find(({ conditions }) => conditions.businessHours !== undefined);
  const skill = skills.find(({ kind }) => kind === "business_hours");
  const user = rule === undefined ? skill && `the skill ${skill.name}` : `the rule "${rule.name}"`;
  if (user === undefined) return;
  throw new Problem("invalid_parameter", `business_hours: ${user} uses them. Remove or change it first.`);
}
