import type { DefaultTexts, Translations } from "#language/canned-texts.ts";
import { defaultTexts } from "#language/canned-texts.ts";
import type { Plan } from "./plans.ts";
import { planRetentionDays } from "./plans.ts";
import type { Audiences } from "./audience.ts";
import type { Rule } from "./automation.ts";
import type { BusinessHours } from "./business-hours.ts";
import type { SingleSignOn } from "./single-sign-on.ts";
import type { Macro } from "./macro.ts";
import type { Skill } from "./skill.ts";
import type { SlaTargets } from "#domain/conversation/sla.ts";
import { defaultSlaTargets } from "#domain/conversation/sla.ts";

export type { Plan } from "./plans.ts";
export { plans } from "./plans.ts";

/** Requests a minute and a UTC day for one key, and queries a month for the workspace. Infinity: no bound. */
export interface PlanLimits {
  readonly perMinute: number;
  readonly perDay: number;
  readonly queriesPerMonth: number;
}

const planLimits: Readonly<Record<Plan, PlanLimits>> = {
  free: { perMinute: 10, perDay: 100, queriesPerMonth: 100 },
  starter: { perMinute: 60, perDay: 3_000, queriesPerMonth: 3_000 },
  growth: { perMinute: 200, perDay: 15_000, queriesPerMonth: 15_000 },
  business: { perMinute: 1_000, perDay: 50_000, queriesPerMonth: 50_000 },
  enterprise: { perMinute: 10_000, perDay: 1_000_000, queriesPerMonth: Number.POSITIVE_INFINITY },
};

/** A workspace's limits: its own, else those of its plan. */
export function limitsOf(
  plan: Plan,
  {
    limitMinute,
    limitDay,
    queriesPerMonth,
  }: Partial<Pick<WorkspaceSettings, "limitMinute" | "limitDay" | "queriesPerMonth">>,
): PlanLimits {
  const { perMinute, perDay, queriesPerMonth: ofPlan } = planLimits[plan];
  return {
    perMinute: limitMinute ?? perMinute,
    perDay: limitDay ?? perDay,
    queriesPerMonth: queriesPerMonth === "unlimited" ? Number.POSITIVE_INFINITY : (queriesPerMonth ?? ofPlan),
  };
}

const dayMs = 86_400_000;

export const retentionDaysMax = Math.max(...Object.values(planRetentionDays));

/** A workspace's own retention does not exceed that of its plan. */
export const retentionMs = (plan: Plan, { retentionDays }: Pick<WorkspaceSettings, "retentionDays">): number =>
  Math.min(retentionDays ?? retentionDaysMax, planRetentionDays[plan]) * dayMs;

export const strictnesses = ["strict", "helpful"] as const;
export type Strictness = (typeof strictnesses)[number];

export const deskReplyModes = ["implicit", "explicit"] as const;
/** Whether agents' messages at the desk are sent at once, or by a Send button. */
export type DeskReplyMode = (typeof deskReplyModes)[number];

export const deskMirrors = ["escalated", "every"] as const;

/** The agents' desk on a platform, besides the inbox. */
export interface DeskSettings {
  /** Name of the channel account that connects the platform. */
  readonly account: string;
  /** The platform's id of the place: a Slack channel's id. */
  readonly channel: string;
  /** The places of single teams. */
  readonly teamChannels?: readonly TeamChannel[];
  /** Conversations shown at the desk: those handed over to agents, or all. */
  readonly mirror: (typeof deskMirrors)[number];
  readonly replyMode: DeskReplyMode;
}

/** The place at the desk where one team works on the conversations that have one of these tags. */
export interface TeamChannel {
  readonly channel: string;
  readonly tags: readonly string[];
}

/** The place of a conversation with these tags: that of the first team with one of them, else the desk's own. */
export function deskChannelOf({ channel, teamChannels = [] }: DeskSettings, tags: readonly string[]): string {
  return teamChannels.find((team) => team.tags.some((tag) => tags.includes(tag)))?.channel ?? channel;
}

/** All places of a desk, its own first. */
export function deskChannelsOf({ channel, teamChannels = [] }: DeskSettings): readonly string[] {
  return [...new Set([channel, ...teamChannels.map((team) => team.channel)])];
}

/** A workspace's settings. Stored as JSON; an absent one has the value of `defaultSettings`. */
export interface WorkspaceSettings extends DefaultTexts {
  readonly strictness: Strictness;
  /** The workspace's own synonyms, besides the built-in ones; each list has one meaning. */
  readonly synonyms: readonly (readonly string[])[];
  /** Phrases by which a customer asks for a person; matched on whole words. Null: the built-in patterns. */
  readonly escalationPhrases: readonly string[] | null;
  /** Number of consecutive answers of confidence `low` after which a conversation escalates. */
  readonly lowAnswersToEscalate: number;
  /** A message escalates from this anger on, 0 to 1; null: never. */
  readonly angerToEscalate: number | null;
  /** The judge of anger: lists of words, or the language model if one is configured. */
  readonly angerJudgedBy: "words" | "model";
  /** Sentences of the bot by language. */
  readonly translations: Translations;
  readonly botName: string;
  /** Whether customers are asked to rate a resolved conversation. */
  readonly satisfactionSurvey: boolean;
  readonly slaTargets: SlaTargets;
  /** Days without activity after which an open conversation is resolved; null: never. 1 to 90. */
  readonly autoResolveDays: number | null;
  /** Days after which a resolved conversation is archived; null: never. */
  readonly autoArchiveDays: number | null;
  /** Days between crawls of a website; null: on request only. 1 to 90. */
  readonly recrawlDays: number | null;
  /** Days from a conversation's last message to its deletion; null: the plan's. */
  readonly retentionDays: number | null;
  /** Origins (`https://shop.example`) that may embed the widget; empty: any. */
  readonly widgetOrigins: readonly string[];
  readonly widgetTitle: string;
  readonly widgetGreeting: string;
  /** `#rrggbb` of the widget's accent. */
  readonly widgetColor: string;
  /** Asks an anonymous visitor for name and e-mail address: never, or when the conversation is handed over. */
  readonly leadCapture: "off" | "on_handover";
  /** Whether customers may send files in the chat, of which media types (`image/*`; empty: any), and how large. */
  readonly widgetFiles: boolean;
  readonly widgetFileTypes: readonly string[];
  /** Megabytes; null: the installation's limit. */
  readonly widgetFileMb: number | null;
  /** Megabytes of files that one visitor, one address and all visitors may send in a UTC day; null: no bound. */
  readonly uploadMbVisitor: number | null;
  readonly uploadMbAddress: number | null;
  readonly uploadMbWorkspace: number | null;
  /** Rules of the audience tags of documents. */
  readonly audiences: Audiences;
  /** Public keys of user tokens: SPKI in base64. */
  readonly identityPublicKeys: readonly string[];
  /** Null: unknown, and not stated to customers. */
  readonly businessHours: BusinessHours | null;
  /** An IANA name such as Europe/Berlin, by which reports divide days; null: that of the business hours, else UTC. */
  readonly timezone: string | null;
  /** Abilities of the bot besides searching the documents that are on. */
  readonly skills: readonly Skill[];
  /** Texts that agents can insert into a reply, by name. */
  readonly savedReplies: Readonly<Record<string, string>>;
  readonly macros: readonly Macro[];
  /** Automation rules that are on. */
  readonly rules: readonly Rule[];
  /** Requests of one key a minute and a UTC day, on Enterprise; null: the plan's. */
  readonly limitMinute: number | null;
  readonly limitDay: number | null;
  /** Queries of the workspace a month, on any plan; null: the plan's. */
  readonly queriesPerMonth: number | "unlimited" | null;
  /** Tokens of the language model a UTC month; then answers are the documents' own sentences. Null: no bound. */
  readonly modelTokensPerMonth: number | null;
  /** Queries of one user a minute and a UTC day, over the API; null: no bound but the key's. */
  readonly userLimitMinute: number | null;
  readonly userLimitDay: number | null;
  /** Null: agents work in the inbox only. */
  readonly desk: DeskSettings | null;
  /** Null: agents sign in with passwords and links only. */
  readonly singleSignOn: SingleSignOn | null;
}

export const defaultSettings: WorkspaceSettings = {
  strictness: "strict",
  synonyms: [],
  escalationPhrases: null,
  lowAnswersToEscalate: 2,
  angerToEscalate: 0.8,
  angerJudgedBy: "words",
  ...defaultTexts,
  translations: {},
  botName: "Assistant",
  satisfactionSurvey: false,
  slaTargets: defaultSlaTargets,
  autoResolveDays: 7,
  autoArchiveDays: 30,
  recrawlDays: 7,
  retentionDays: null,
  widgetOrigins: [],
  widgetTitle: "Ask us",
  widgetGreeting: "Hello! Ask a question, and I will look it up in our documentation.",
  widgetColor: "#1f6feb",
  leadCapture: "on_handover",
  widgetFiles: true,
  widgetFileTypes: [],
  widgetFileMb: null,
  uploadMbVisitor: 200,
  uploadMbAddress: 1_000,
  uploadMbWorkspace: 10_000,
  audiences: {},
  identityPublicKeys: [],
  businessHours: null,
  timezone: null,
  skills: [],
  savedReplies: {},
  macros: [],
  rules: [],
  limitMinute: null,
  limitDay: null,
  queriesPerMonth: null,
  modelTokensPerMonth: null,
  userLimitMinute: null,
  userLimitDay: null,
  desk: null,
  singleSignOn: null,
};

export function settingsOf(stored: Partial<WorkspaceSettings>): WorkspaceSettings {
  return {
    ...defaultSettings,
    ...stored,
    slaTargets: { ...defaultSlaTargets, ...stored.slaTargets },
    rules: (stored.rules ?? []).filter(isOn),
    skills: (stored.skills ?? []).filter(isOn),
  };
}

const isOn = ({ enabled }: { readonly enabled?: false }): boolean => enabled !== false;

/** Settings from the column `settings`. */
export function storedSettings(json: string): WorkspaceSettings {
  return settingsOf(JSON.parse(json) as Partial<WorkspaceSettings>);
}

export const timezoneOf = ({
  timezone,
  businessHours,
}: Pick<WorkspaceSettings, "timezone" | "businessHours">): string => timezone ?? businessHours?.timezone ?? "UTC";
