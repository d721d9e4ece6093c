import type { Language } from "#language/message-language.ts";
import type { Status } from "#domain/conversation/status.ts";
import type { Channel, Confidence, Role } from "#domain/conversation/message.ts";
import { hasPhrase, wordsIn } from "#language/words/phrases.ts";
import type { Priority, SlaState } from "#domain/conversation/sla.ts";

/** The event or time that a rule reacts to. */
export type Trigger =
  | { readonly kind: "message"; readonly by: Role }
  | { readonly kind: "status"; readonly to: readonly Status[] }
  | { readonly kind: "tagged"; readonly tag: string }
  | { readonly kind: "untagged"; readonly tag: string }
  | { readonly kind: "sla"; readonly state: SlaState }
  | { readonly kind: "time"; readonly afterMs: number; readonly since: TimeAnchor };

export const timeAnchors = ["last_message", "status", "started"] as const;
export type TimeAnchor = (typeof timeAnchors)[number];

/** Every given condition must hold; in a list, one value must. */
export interface Conditions {
  readonly channels?: readonly Channel[];
  readonly statuses?: readonly Status[];
  /** The conversation has all of them. */
  readonly tags?: readonly string[];
  /** The conversation has none of them. */
  readonly withoutTags?: readonly string[];
  readonly priorities?: readonly Priority[];
  readonly words?: readonly string[];
  /** The message's metadata have one of these: `key=value`. */
  readonly metadata?: readonly string[];
  readonly languages?: readonly Language[];
  readonly confidences?: readonly Confidence[];
  readonly plans?: readonly string[];
  readonly verified?: boolean;
  readonly businessHours?: "open" | "closed";
  /** The customer's last message has no answer; while agents have the conversation, the bot's does not count. */
  readonly unanswered?: boolean;
  readonly assigned?: boolean;
}

export type Action =
  | { readonly kind: "tag"; readonly tags: readonly string[] }
  | { readonly kind: "untag"; readonly tags: readonly string[] }
  | {
      readonly kind: "assign";
      /** An agent's address; null: the next available agent. */
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
  /** False: the rule is kept and does nothing. Absent: it is on. */
  readonly enabled?: false;
  readonly when: Trigger;
  readonly conditions: Conditions;
  readonly actions: readonly Action[];
}

/** Something that has happened to a conversation. */
export type RuleEvent =
  | {
      readonly kind: "message";
      readonly by: Role;
      /** Its present text: the same transaction may have edited it. */
      readonly message: {
        readonly id: string;
        readonly content: string;
        /** JSON: somebody else's words are in the text. Null: all of it is the writer's own. */
        readonly forwarded: string | null;
        readonly seq: number;
        /** JSON of an object; null: none. */
        readonly metadata: string | null;
      };
      readonly confidence: Confidence | null;
    }
  | { readonly kind: "status"; readonly from: Status; readonly to: Status }
  | { readonly kind: "tagged"; readonly tag: string }
  | { readonly kind: "untagged"; readonly tag: string }
  | { readonly kind: "sla"; readonly state: SlaState }
  /** A time rule is due; the caller has determined which. */
  | { readonly kind: "time"; readonly rule: string };

/** The conversation's state when the rule is evaluated. */
export interface Facts {
  readonly channel: Channel;
  readonly status: Status;
  readonly tags: readonly string[];
  readonly priority: Priority;
  /** The message's text without words of somebody else. Empty without a message. */
  readonly text: string;
  /** The language of `text`. Null: it is not recognised. */
  readonly language: () => Language | null;
  /** The verified customer's plan; null without one. */
  readonly plan: string | null;
  readonly verified: boolean;
  /** Null: the workspace has no business hours, and neither condition on them holds. */
  readonly open: boolean | null;
  readonly unanswered: boolean;
  readonly assigned: boolean;
}

/** The reasons for which a rule fires, for the administrator; undefined when it does not fire. */
export function reasonToFire(rule: Rule, ruleEvent: RuleEvent, facts: Facts): readonly string[] | undefined {
  const trigger = triggeredBy(rule, ruleEvent);
  if (trigger === undefined) return undefined;
  const reasons = [trigger];
  for (const { holds, reason } of checksOf(rule.conditions, ruleEvent, facts)) {
    if (!holds) return undefined;
    reasons.push(reason);
  }
  return reasons;
}

/** The first condition that did not hold, and the number of those before it. */
export interface Miss {
  readonly held: number;
  readonly reason: string;
}

/** Why a rule does not fire; undefined when it fires. */
export function missOf(rule: Rule, ruleEvent: RuleEvent, facts: Facts): Miss | undefined {
  if (triggeredBy(rule, ruleEvent) === undefined) return untriggered;
  let held = 1;
  for (const { holds, reason } of checksOf(rule.conditions, ruleEvent, facts)) {
    if (!holds) return { held, reason };
    held += 1;
  }
  return undefined;
}

export const untriggered: Miss = { held: 0, reason: "nothing set it off" };

const roleNames: Readonly<Record<Role, string>> = { user: "the customer", assistant: "the bot", agent: "an agent" };

function triggeredBy({ name, when }: Rule, ruleEvent: RuleEvent): string | undefined {
  switch (when.kind) {
    case "message":
      return ruleEvent.kind === "message" && ruleEvent.by === when.by ? `${roleNames[when.by]} has written` : undefined;
    case "status":
      return ruleEvent.kind === "status" && when.to.includes(ruleEvent.to)
        ? `the status became ${ruleEvent.to}, from ${ruleEvent.from}`
        : undefined;
    case "tagged":
      return ruleEvent.kind === "tagged" && ruleEvent.tag === when.tag ? `it was tagged ${when.tag}` : undefined;
    case "untagged":
      return ruleEvent.kind === "untagged" && ruleEvent.tag === when.tag
        ? `the tag ${when.tag} was taken off`
        : undefined;
    case "sla":
      return ruleEvent.kind === "sla" && ruleEvent.state === when.state ? `the SLA is ${when.state}` : undefined;
    case "time":
      return ruleEvent.kind === "time" && ruleEvent.rule === name
        ? `${when.afterMs / 60_000} minutes have passed since ${anchorNames[when.since]}`
        : undefined;
  }
}

const anchorNames: Readonly<Record<TimeAnchor, string>> = {
  last_message: "the last message",
  status: "the last change of status",
  started: "the start",
};

/** A condition: why it holds, or why it does not. */
interface Check {
  readonly holds: boolean;
  readonly reason: string;
}

function* checksOf(conditions: Conditions, ruleEvent: RuleEvent, facts: Facts): Iterable<Check> {
  const { channels, statuses, tags, withoutTags, priorities, words, metadata, languages, confidences, plans } =
    conditions;
  if (channels !== undefined) yield oneOf("the channel", facts.channel, channels);
  if (statuses !== undefined) yield oneOf("the status", facts.status, statuses);
  if (priorities !== undefined) yield oneOf("the priority", facts.priority, priorities);
  if (tags !== undefined) {
    const missing = tags.filter((tag) => !facts.tags.includes(tag));
    yield missing.length === 0
      ? { holds: true, reason: `it has the tags ${tags.join(", ")}` }
      : { holds: false, reason: `it lacks the tags ${missing.join(", ")}` };
  }
  if (withoutTags !== undefined) {
    const found = withoutTags.find((tag) => facts.tags.includes(tag));
    yield found === undefined
      ? { holds: true, reason: `it has no tag ${withoutTags.join(" or ")}` }
      : { holds: false, reason: `it has the tag ${found}` };
  }
  if (words !== undefined) yield wordsCheck(words, facts);
  if (metadata !== undefined) yield metadataCheck(metadata, ruleEvent);
  if (confidences !== undefined)
    yield oneOf("the confidence", ruleEvent.kind === "message" ? ruleEvent.confidence : null, confidences);
  if (languages !== undefined) yield oneOf("the language", facts.language(), languages);
  if (plans !== undefined) yield oneOf("the customer's plan", facts.plan, plans);
  if (conditions.verified !== undefined) yield flag(conditions.verified, facts.verified, "the customer is", "verified");
  if (conditions.businessHours !== undefined) {
    const { open } = facts;
    const reason =
      open === null ? "there are no business hours" : `it is ${open ? "within" : "outside"} business hours`;
    yield { holds: open !== null && (conditions.businessHours === "open") === open, reason };
  }
  if (conditions.unanswered !== undefined)
    yield flag(!conditions.unanswered, !facts.unanswered, "the customer's last message is", "answered");
  if (conditions.assigned !== undefined)
    yield flag(conditions.assigned, facts.assigned, "it is", "assigned to an agent");
}

function oneOf<T extends string>(name: string, value: T | null, allowed: readonly T[]): Check {
  return { holds: value !== null && allowed.includes(value), reason: `${name} is ${value ?? "unknown"}` };
}

function flag(wanted: boolean, fact: boolean, subject: string, word: string): Check {
  return { holds: wanted === fact, reason: `${subject} ${fact ? "" : "not "}${word}` };
}

function wordsCheck(words: readonly string[], { text }: Facts): Check {
  const said = wordsIn(text);
  const found = words.find((phrase) => hasPhrase(said, phrase));
  return found === undefined
    ? { holds: false, reason: "the message has none of the words" }
    : { holds: true, reason: `the message says "${found}"` };
}

function metadataCheck(pairs: readonly string[], ruleEvent: RuleEvent): Check {
  const stored = ruleEvent.kind === "message" ? ruleEvent.message.metadata : null;
  const metadata = stored === null ? {} : (JSON.parse(stored) as Readonly<Record<string, unknown>>);
  const found = pairs.find((pair) => {
    const [key, value] = keyAndValue(pair);
    const held = Object.hasOwn(metadata, key) ? metadata[key] : undefined;
    return ["string", "number", "boolean"].includes(typeof held) && String(held).toLowerCase() === value.toLowerCase();
  });
  return found === undefined
    ? { holds: false, reason: `the message's metadata have no ${pairs.join(" or ")}` }
    : { holds: true, reason: `the message's metadata have ${found}` };
}

/** The two sides of `key=value`; the value can be empty, and can have further signs of equality. */
function keyAndValue(pair: string): readonly [key: string, value: string] {
  const at = pair.indexOf("=");
  return [pair.slice(0, at).trim(), pair.slice(at + 1).trim()];
}

/** Describes an action for the administrator. */
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

/** A new rule must not write to customers whose conversations ended long ago. */
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
