import type { Audiences } from "./audience.ts";
import type { SlaTargets } from "./sla.ts";
import { defaultSlaTargets } from "./sla.ts";

export const plans = ["free", "starter", "growth", "business", "enterprise"] as const;
export type Plan = (typeof plans)[number];

/** Requests a minute and a UTC day for one key, and queries a month for the workspace. Infinity: no bound. */
export interface PlanLimits {
  readonly perMinute: number;
  readonly perDay: number;
  readonly queriesPerMonth: number;
}

export const planLimits: Readonly<Record<Plan, PlanLimits>> = {
  free: { perMinute: 10, perDay: 100, queriesPerMonth: 100 },
  starter: { perMinute: 60, perDay: 3_000, queriesPerMonth: 3_000 },
  growth: { perMinute: 200, perDay: 15_000, queriesPerMonth: 15_000 },
  business: { perMinute: 1_000, perDay: 50_000, queriesPerMonth: 50_000 },
  enterprise: { perMinute: 10_000, perDay: 1_000_000, queriesPerMonth: Number.POSITIVE_INFINITY },
};

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

/** What a workspace can set. Stored as JSON; what is absent there has the value of `defaultSettings`. */
export interface WorkspaceSettings {
  readonly strictness: Strictness;
  /** Phrases by which a customer asks for a person; matched on whole words. */
  readonly escalationPhrases: readonly string[];
  /** How many answers of confidence `low` in a row escalate. */
  readonly lowAnswersToEscalate: number;
  readonly handoverMessage: string;
  /** What the bot says when the documents hold no answer. */
  readonly unknownMessage: string;
  /** What the bot says to a message of files without a word. */
  readonly filesOnlyMessage: string;
  /** What an API client is told while a person has the conversation. */
  readonly waitingMessage: string;
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
  /** Who sees the documents that carry an audience tag. */
  readonly audiences: Audiences;
  /** Queries of one user a minute and a UTC day, over the API; null: no bound but the key's. */
  readonly userLimitMinute: number | null;
  readonly userLimitDay: number | null;
}

export const defaultSettings: WorkspaceSettings = {
  strictness: "strict",
  escalationPhrases: [
    "talk to a human",
    "talk to a person",
    "talk to an agent",
    "talk to someone",
    "talk to support",
    "speak to a human",
    "speak to a person",
    "speak to an agent",
    "speak to someone",
    "speak with a human",
    "speak with a person",
    "speak with someone",
    "speak with an agent",
    "talk with a human",
    "talk with a person",
    "talk with someone",
    "human agent",
    "human support",
    "real person",
    "real human",
    "live agent",
    "live person",
    "customer service representative",
    "contact a human",
    "need a human",
    "want a human",
    "get a human",
    "connect me to a human",
    "connect me to an agent",
    "connect me with a human",
    "connect me with someone",
    "chat with a human",
    "chat with an agent",
    "chat with a person",
  ],
  lowAnswersToEscalate: 2,
  handoverMessage: "I'm passing this conversation to my colleagues. A person will reply to you here.",
  unknownMessage:
    "I don't know: I could not find the answer in our documentation. You can put the question another way, or ask to talk to a human.",
  filesOnlyMessage:
    "I cannot look into files. Yours is kept with this conversation. Tell me in words what you need, or ask to talk to a human, who can open it.",
  waitingMessage: "Your message has reached our team. A person will reply to you here.",
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
  audiences: {},
  userLimitMinute: null,
  userLimitDay: null,
};

export function settingsOf(stored: Partial<WorkspaceSettings>): WorkspaceSettings {
  return { ...defaultSettings, ...stored, slaTargets: { ...defaultSlaTargets, ...stored.slaTargets } };
}

/** The same, of the column `settings`. */
export function storedSettings(json: string): WorkspaceSettings {
  return settingsOf(JSON.parse(json) as Partial<WorkspaceSettings>);
}
