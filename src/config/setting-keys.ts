import type { TSchema } from "typebox";
import { weekdays } from "#domain/workspace/business-hours.ts";
import type { BusinessHours } from "#domain/workspace/business-hours.ts";
import type { WorkspaceSettings } from "#domain/workspace/settings.ts";
import { defaultSettings } from "#domain/workspace/settings.ts";
import { workspaceSchema } from "./schema.ts";

/** The settings of a workspace by their keys in the configuration file, with dots between the levels. */
export const settingKeys = {
  bot_name: "botName",
  strictness: "strictness",
  satisfaction_survey: "satisfactionSurvey",
  "answers.synonyms": "synonyms",
  "messages.handover": "handoverMessage",
  "messages.files_only": "filesOnlyMessage",
  "messages.unknown": "unknownMessage",
  "messages.waiting": "waitingMessage",
  "messages.survey": "surveyMessage",
  "messages.rated": "ratedMessage",
  "messages.lookup_failed": "lookupFailedMessage",
  "messages.lookup_unsure": "lookupUnsureMessage",
  "messages.lookup_unverified": "lookupUnverifiedMessage",
  "messages.translations": "translations",
  "escalation.phrases": "escalationPhrases",
  "escalation.low_answers": "lowAnswersToEscalate",
  "escalation.anger": "angerToEscalate",
  "escalation.anger_by": "angerJudgedBy",
  business_hours: "businessHours",
  timezone: "timezone",
  sla: "slaTargets",
  auto_resolve_days: "autoResolveDays",
  auto_archive_days: "autoArchiveDays",
  recrawl_days: "recrawlDays",
  retention_days: "retentionDays",
  limit_minute: "limitMinute",
  limit_day: "limitDay",
  queries_per_month: "queriesPerMonth",
  model_tokens_per_month: "modelTokensPerMonth",
  user_limit_minute: "userLimitMinute",
  user_limit_day: "userLimitDay",
  audiences: "audiences",
  identity_public_keys: "identityPublicKeys",
  "widget.title": "widgetTitle",
  "widget.greeting": "widgetGreeting",
  "widget.color": "widgetColor",
  "widget.origins": "widgetOrigins",
  "widget.lead_capture": "leadCapture",
  "widget.files": "widgetFiles",
  "widget.file_types": "widgetFileTypes",
  "widget.file_max_mb": "widgetFileMb",
  "widget.visitor_mb_per_day": "uploadMbVisitor",
  "widget.address_mb_per_day": "uploadMbAddress",
  "widget.mb_per_day": "uploadMbWorkspace",
} as const satisfies Readonly<Record<string, keyof WorkspaceSettings>>;

export type SettingKey = keyof typeof settingKeys;

export const allSettingKeys = Object.keys(settingKeys) as readonly SettingKey[];

/** The part of the file's schema for a setting. */
export function settingSchema(key: SettingKey): TSchema {
  let schema: unknown = workspaceSchema;
  for (const name of key.split(".")) {
    schema = (schema as { readonly properties: Readonly<Record<string, unknown>> }).properties[name];
  }
  return schema as TSchema;
}

/** A setting's value as the file writes it; null: the file cannot write it, because it is the absence of a value. */
export function fileValueOf(key: SettingKey, settings: WorkspaceSettings): unknown {
  const name = settingKeys[key];
  if (name === "businessHours") return settings.businessHours === null ? null : fileHours(settings.businessHours);
  if (name === "identityPublicKeys") return settings.identityPublicKeys.map(pemOf).join("");
  const value = settings[name];
  return value === null && takesFalse(key) ? false : value;
}

/** A setting's default as the file writes it. */
export const fileDefaultOf = (key: SettingKey): unknown => fileValueOf(key, defaultSettings);

/** Whether `false` stands for none. */
export const takesFalse = (key: SettingKey): boolean =>
  (settingSchema(key) as { readonly anyOf?: readonly { readonly const?: unknown }[] }).anyOf?.some(
    (each) => each.const === false,
  ) === true;

/** Values at their keys: `{"widget.title": "Help"}` becomes `{widget: {title: "Help"}}`. */
export function treeOf(values: Readonly<Partial<Record<SettingKey, unknown>>>): Readonly<Record<string, unknown>> {
  const tree: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(values)) {
    const [top = "", below] = key.split(".");
    tree[top] = below === undefined ? value : { ...(tree[top] as object | undefined), [below]: value };
  }
  return tree;
}

function fileHours({ timezone, days, holidays }: BusinessHours): Readonly<Record<string, unknown>> {
  const opened = weekdays.flatMap((day) => {
    const hours = days[day] ?? [];
    return hours.length === 0 ? [] : [[day, hours.map(({ from, to }) => `${timeOf(from)}-${timeOf(to)}`)] as const];
  });
  return { timezone, ...Object.fromEntries(opened), ...(holidays.length === 0 ? {} : { holidays }) };
}

const two = (value: number): string => String(value).padStart(2, "0");
const timeOf = (minutes: number): string => `${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;

const pemOf = (spki: string): string =>
  `-----BEGIN PUBLIC KEY-----\n${spki.match(/.{1,64}/g)?.join("\n") ?? ""}\n-----END PUBLIC KEY-----\n`;
