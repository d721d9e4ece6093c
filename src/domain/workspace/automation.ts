import type { Language } from "#language/message-language.ts";
import type { Status } from "#domain/conversation/status.ts";
import type { Channel, Confidence, Role } from "#domain/conversation/message.ts";
import { hasPhrase, wordsIn } from "#language/phrases.ts";
import type { Priority, SlaState } from "#domain/conversation/sla.ts";

/** What a rule waits for. */
export type Trigger =
  | { readonly kind: "message"; readonly by: Role }
  | { readonly kind: "status"; readonly to: readonly Status[] }
  | { readonly kind: "tagged"; readonly tag: string }
  | { readonly kind: "untagged"; readonly tag: string }
  | { readonly kind: "sla"; readonly state: SlaState }
  | { readonly kind: "time"; readonly afterMs: number; readonly since: TimeAnchor };

export const timeAnchors = ["last_message", "status", "started"] as const;
export type TimeAnchor = (typeof timeAnchors)[number];

/** All that are given must hold; of a list, one value must. */
export interface Conditions {
  readonly channels?: readonly Channel[];
  readonly statuses?: readonly Status[];
  /** All of them. */
  readonly tags?: readonly string[];
  /** None of them. */
  readonly withoutTags?: readonly string[];
  readonly priorities?: readonly Priority[];
  readonly words?: readonly string[];
  readonly languages?: readonly Language[];
  readonly confidences?: readonly Confidence[];
  readonly plans?: readonly string[];
  readonly verified?: boolean;
  readonly businessHours?: "open" | "closed";
  /** Nobody has answered the customer's last message; while people have the conversation, the bot is nobody. */
  readonly unanswered?: boolean;
  readonly assigned?: boolean;
}

export type Action =
  | { readonly kind: "tag"; readonly tags: readonly string[] }
  | { readonly kind: "untag"; readonly tags: readonly string[] }
  | {
      readonly kind: "assign";
      /** An agent's address; null: the next of those who are available. */
      readonly to: string | null;
      readonly among: readonly string[];
      readonly maxClaimed: number | null;
    }
  | { readonly kind: "priority"; readonly priority: Priority }
  | { readonly kind: "escalate"; readonly reason: string }
  | { readonly kind: "note"; readonly text: string }
  | { readonly kind: "notify"; readonly text: string }
  | { readonly kind: "reply"; readonly text: string }
  | { readonly kind: "snooze"; readonly hours: number }
  | { readonly kind: "resolve" };

export interface Rule {
  readonly name: string;
  readonly when: Trigger;
  readonly conditions: Conditions;
  readonly actions: readonly Action[];
}

/** Something that has happened to a conversation. */
export type Happening =
  | {
      readonly kind: "message";
      readonly by: Role;
      /** What it says now: it may be edited in the same transaction. */
      readonly message: { readonly content: string; readonly seq: number };
      readonly confidence: Confidence | null;
    }
  | { readonly kind: "status"; readonly from: Status; readonly to: Status }
  | { readonly kind: "tagged"; readonly tag: string }
  | { readonly kind: "untagged"; readonly tag: string }
  | { readonly kind: "sla"; readonly state: SlaState }
  /** So many milliseconds after this; which rule that is for, the caller has worked out. */
  | { readonly kind: "time"; readonly rule: string };

/** What a conversation is when it happens. */
export interface Facts {
  readonly channel: Channel;
  readonly status: Status;
  readonly tags: readonly string[];
  readonly priority: Priority;
  readonly language: () => Language | null;
  /** Of the verified customer; null where there is none. */
  readonly plan: string | null;
  readonly verified: boolean;
  /** Null: the workspace has no business hours, and neither condition on them holds. */
  readonly open: boolean | null;
  readonly unanswered: boolean;
  readonly assigned: boolean;
}

/** Why a rule fires, in words for the operator; undefined where it does not. */
export function reasonToFire(rule: Rule, happening: Happening, facts: Facts): readonly string[] | undefined {
  const trigger = triggeredBy(rule, happening);
  if (trigger === undefined) return undefined;
  const reasons = [trigger];
  for (const check of checksOf(rule.conditions, happening, facts)) {
    if (check === undefined) return undefined;
    reasons.push(check);
  }
  return reasons;
}

const roleNames: Readonly<Record<Role, string>> = { user: "the customer", assistant: "the bot", agent: "an agent" };

function triggeredBy({ name, when }: Rule, happening: Happening): string | undefined {
  switch (when.kind) {
    case "message":
      return happening.kind === "message" && happening.by === when.by ? `${roleNames[when.by]} has written` : undefined;
    case "status":
      return happening.kind === "status" && when.to.includes(happening.to)
        ? `the status became ${happening.to}, from ${happening.from}`
        : undefined;
    case "tagged":
      return happening.kind === "tagged" && happening.tag === when.tag ? `it was tagged ${when.tag}` : undefined;
    case "untagged":
      return happening.kind === "untagged" && happening.tag === when.tag
        ? `the tag ${when.tag} was taken off`
        : undefined;
    case "sla":
      return happening.kind === "sla" && happening.state === when.state ? `the SLA is ${when.state}` : undefined;
    case "time":
      return happening.kind === "time" && happening.rule === name
        ? `${when.afterMs / 60_000} minutes have passed since ${anchorNames[when.since]}`
        : undefined;
  }
}

const anchorNames: Readonly<Record<TimeAnchor, string>> = {
  last_message: "the last message",
  status: "the last change of status",
  started: "the start",
};

/** A line for each condition that holds, undefined for each that does not. */
function* checksOf(conditions: Conditions, happening: Happening, facts: Facts): Iterable<string | undefined> {
  const { channels, statuses, tags, withoutTags, priorities, words, languages, confidences, plans } = conditions;
  const oneOf = <T extends string>(name: string, value: T | null, allowed: readonly T[]): string | undefined =>
    value !== null && allowed.includes(value) ? `${name} is ${value}` : undefined;
  if (channels !== undefined) yield oneOf("the channel", facts.channel, channels);
  if (statuses !== undefined) yield oneOf("the status", facts.status, statuses);
  if (priorities !== undefined) yield oneOf("the priority", facts.priority, priorities);
  if (tags !== undefined)
    yield tags.every((tag) => facts.tags.includes(tag)) ? `it has the tags ${tags.join(", ")}` : undefined;
  if (withoutTags !== undefined)
    yield withoutTags.some((tag) => facts.tags.includes(tag)) ? undefined : `it has no tag ${withoutTags.join(" or ")}`;
  if (words !== undefined) {
    const text = happening.kind === "message" ? wordsIn(happening.message.content) : undefined;
    const found = text === undefined ? undefined : words.find((phrase) => hasPhrase(text, phrase));
    yield found === undefined ? undefined : `the message says "${found}"`;
  }
  if (confidences !== undefined)
    yield oneOf("the confidence", happening.kind === "message" ? happening.confidence : null, confidences);
  if (languages !== undefined) yield oneOf("the language", facts.language(), languages);
  if (plans !== undefined) yield oneOf("the customer's plan", facts.plan, plans);
  if (conditions.verified !== undefined)
    yield conditions.verified === facts.verified
      ? `the customer is ${facts.verified ? "" : "not "}verified`
      : undefined;
  if (conditions.businessHours !== undefined)
    yield facts.open !== null && (conditions.businessHours === "open") === facts.open
      ? `it is ${facts.open ? "within" : "outside"} business hours`
      : undefined;
  if (conditions.unanswered !== undefined)
    yield conditions.unanswered === facts.unanswered
      ? `the customer's last message is ${facts.unanswered ? "not answered" : "answered"}`
      : undefined;
  if (conditions.assigned !== undefined)
    yield conditions.assigned === facts.assigned
      ? `it is ${facts.assigned ? "" : "not "}assigned to an agent`
      : undefined;
}

/** What an action does, in words for the operator. */
export function describeAction(action: Action): string {
  switch (action.kind) {
    case "tag":
      return `tag ${action.tags.join(", ")}`;
    case "untag":
      return `take off the tag ${action.tags.join(", ")}`;
    case "assign":
      return `assign to ${action.to ?? "the next agent who is available"}`;
    case "priority":
      return `set the priority ${action.priority}`;
    case "escalate":
      return "escalate";
    case "note":
      return "add a note";
    case "notify":
      return "notify the agents";
    case "reply":
      return "reply to the customer";
    case "snooze":
      return `snooze for ${action.hours} hours`;
    case "resolve":
      return "resolve";
  }
}

/** The times that time rules count from. */
export interface Anchors {
  readonly lastMessageAt: number;
  readonly statusAt: number;
  readonly startedAt: number;
}

/** A rule that a new configuration brings is not to write to everybody whose conversation ended long ago. */
const live: readonly Status[] = ["open", "escalated", "claimed"];

/**
 * When a time rule is due; null for other rules, and for those that this status rules out. Without a condition on the
 * status, conversations that are snoozed or have ended are left alone.
 */
export function dueAt({ when, conditions }: Rule, status: Status, anchors: Anchors): number | null {
  if (when.kind !== "time" || !(conditions.statuses ?? live).includes(status)) return null;
  switch (when.since) {
    case "last_message":
      return anchors.lastMessageAt + when.afterMs;
    case "status":
      return anchors.statusAt + when.afterMs;
    case "started":
      return anchors.startedAt + when.afterMs;
  }
}
