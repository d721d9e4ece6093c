import type { DefaultTexts } from "#language/bot-texts/default-texts.ts";
import { defaultTexts } from "#language/bot-texts/default-texts.ts";
import { handoverPhrases } from "#language/handover-phrases.ts";
import type { Audiences } from "./audience.ts";
import type { Translations } from "#language/bot-texts/languages.ts";
import type { Rule } from "./automation.ts";
import type { BusinessHours } from "./business-hours.ts";
import type { Skill } from "./skill.ts";
import type { SlaTargets } from "#domain/conversation/sla.ts";
import { defaultSlaTargets } from "#domain/conversation/sla.ts";

export const plans = ["free", "starter", "growth", "business", "enterprise"] as const;
export type Plan = (typeof plans)[number];

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

/** What holds for a workspace: its own limits, and else those of its plan. */
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

/** How long a conversation is kept after its last message: a year, and six years on Enterprise. */
export const retentionMs: Readonly<Record<Plan, number>> = {
  free: 365 * dayMs,
  starter: 365 * dayMs,
  growth: 365 * dayMs,
  business: 365 * dayMs,
  enterprise: (6 * 365 + 2) * dayMs,
};

export const strictnesses = ["strict", "helpful"] as const;
export type Strictness = (typeof strictnesses)[number];

export const deskReplyModes = ["implicit", "explicit"] as const;
/** Whether what an agent writes at the desk goes to the customer by itself, or by a Send button. */
export type DeskReplyMode = (typeof deskReplyModes)[number];

export const deskMirrors = ["escalated", "every"] as const;

/** Where the workspace's agents work besides the inbox. */
export interface DeskSettings {
  /** Name of the account whose platform it is on. */
  readonly account: string;
  /** Where there, in the platform's own words: a Slack channel's id. */
  readonly channel: string;
  /** Which conversations are shown there: those that were handed to people, or every one. */
  readonly mirror: (typeof deskMirrors)[number];
  readonly replyMode: DeskReplyMode;
}

/** What a workspace can set. Stored as JSON; what is absent there has the value of `defaultSettings`. */
export interface WorkspaceSettings extends DefaultTexts {
  readonly strictness: Strictness;
  /** Words and phrases of the workspace's own that mean the same, besides the built-in ones; each list is one meaning. */
  readonly synonyms: readonly (readonly string[])[];
  /** Phrases by which a customer asks for a person; matched on whole words. */
  readonly escalationPhrases: readonly string[];
  /** How many answers of confidence `low` in a row escalate. */
  readonly lowAnswersToEscalate: number;
  /** Anger or frustration, 0 to 1, from which a message escalates; null: none does. */
  readonly angerToEscalate: number | null;
  /** Who judges that: our list of words, or the language model where there is one. */
  readonly angerJudgedBy: "words" | "model";
  /** These and other sentences by language. */
  readonly translations: Translations;
  readonly botName: string;
  readonly slaTargets: SlaTargets;
  /** Days without activity after which an open conversation is resolved; null: never. 1 to 90. */
  readonly autoResolveDays: number | null;
  /** Days after which a resolved conversation is archived; null: never. */
  readonly autoArchiveDays: number | null;
  /** Days after which a crawled website is gone through again; null: only when it is asked for. 1 to 90. */
  readonly recrawlDays: number | null;
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
  /** Megabytes; null: what the installation takes. */
  readonly widgetFileMb: number | null;
  /** Megabytes of files that one visitor, one address and all visitors may send in a UTC day; null: no bound. */
  readonly uploadMbVisitor: number | null;
  readonly uploadMbAddress: number | null;
  readonly uploadMbWorkspace: number | null;
  /** Who sees the documents that carry an audience tag. */
  readonly audiences: Audiences;
  /** Public keys of user tokens: SPKI in base64. */
  readonly identityPublicKeys: readonly string[];
  /** When somebody is there; null: not told. */
  readonly businessHours: BusinessHours | null;
  /** What the bot can do besides searching the documents. */
  readonly skills: readonly Skill[];
  /** What agents can put into a reply, by name. */
  readonly savedReplies: Readonly<Record<string, string>>;
  /** What happens by itself. */
  readonly rules: readonly Rule[];
  /** Requests of one key a minute and a UTC day, on Enterprise; null: the plan's. */
  readonly limitMinute: number | null;
  readonly limitDay: number | null;
  /** Queries of the workspace a month, on any plan; null: the plan's. */
  readonly queriesPerMonth: number | "unlimited" | null;
  /** Queries of one user a minute and a UTC day, over the API; null: no bound but the key's. */
  readonly userLimitMinute: number | null;
  readonly userLimitDay: number | null;
  /** null: agents work in the inbox alone. */
  readonly desk: DeskSettings | null;
}

export const defaultSettings: WorkspaceSettings = {
  strictness: "strict",
  synonyms: [],
  escalationPhrases: handoverPhrases,
  lowAnswersToEscalate: 2,
  angerToEscalate: 0.8,
  angerJudgedBy: "words",
  ...defaultTexts,
  translations: {},
  botName: "Assistant",
  slaTargets: defaultSlaTargets,
  autoResolveDays: 7,
  autoArchiveDays: 30,
  recrawlDays: 7,
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
  skills: [],
  savedReplies: {},
  rules: [],
  limitMinute: null,
  limitDay: null,
  queriesPerMonth: null,
  userLimitMinute: null,
  userLimitDay: null,
  desk: null,
};

export function settingsOf(stored: Partial<WorkspaceSettings>): WorkspaceSettings {
  return { ...defaultSettings, ...stored, slaTargets: { ...defaultSlaTargets, ...stored.slaTargets } };
}

/** The same, of the column `settings`. */
export function storedSettings(json: string): WorkspaceSettings {
  return settingsOf(JSON.parse(json) as Partial<WorkspaceSettings>);
}
