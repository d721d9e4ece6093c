export const channels = [
  "widget",
  "whatsapp",
  "telegram",
  "slack",
  "discord",
  "email",
  "voice",
  "sms",
  "intercom",
  "hosted",
  "api",
] as const;
export type Channel = (typeof channels)[number];

export const chatChannels = ["widget", "hosted"] as const satisfies readonly Channel[];
export const isChat = (channel: Channel): boolean => chatChannels.some((each) => each === channel);

/** As people call them. */
export const channelNames: Readonly<Record<Channel, string>> = {
  widget: "Website chat",
  whatsapp: "WhatsApp",
  telegram: "Telegram",
  slack: "Slack",
  discord: "Discord",
  email: "E-mail",
  voice: "Phone call",
  sms: "SMS",
  intercom: "Intercom",
  hosted: "Chat page",
  api: "API",
};

export type Role = "user" | "assistant" | "agent";

export const confidences = ["high", "medium", "low"] as const;
export type Confidence = (typeof confidences)[number];

/** A retrieved chunk that supports an answer. `url` is "" for an uploaded file that has no address. */
export interface Source {
  readonly title: string;
  readonly url: string;
  readonly chunk: string;
  readonly score: number;
}

export type ActorType = "customer" | "assistant" | "agent" | "api_key" | "system";

/** Who did something. `id` is an agent's e-mail address, a key's id, a contact's id, or the name of a system part. */
export interface Actor {
  readonly type: ActorType;
  readonly id: string | null;
  readonly name: string | null;
}

export const systemActor = (id: string): Actor => ({ type: "system", id, name: null });

export const auditActions = [
  "status_changed",
  "assigned",
  "tagged",
  "untagged",
  "priority_changed",
  "note_added",
  "deleted",
  "exported",
  "skill_called",
  "rule_fired",
] as const;
/** The others tell of contacts and of the workspace, and so are in no conversation's log. */
export type AuditAction = (typeof auditActions)[number] | "contact_merged" | "contact_unmerged" | "secret_rotated";

/** Length as the contract counts it: Unicode code points. */
export function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

export const queryCodePointsMax = 1_000;
export const messageCodePointsMax = 4_000;
