import type { Status } from "#domain/conversation/status.ts";
import type { AuditView, Colleague, Delivery, View, WaitingOrder } from "#http/inbox/wire.ts";
import type { IconName } from "./dom.ts";
import { when } from "./time.ts";

const nameCharsMax = 30;

/** A name may be as long as its owner likes; a line shall stay a line. */
export function shortName(name: string): string {
  const letters = [...name];
  return letters.length <= nameCharsMax ? name : `${letters.slice(0, nameCharsMax).join("").trimEnd()}…`;
}

/** All agents, oneself first. */
export function agentChoices(
  agents: readonly Colleague[],
  me: string,
): readonly { readonly email: string; readonly label: string }[] {
  return agents
    .toSorted((a, b) => Number(b.email === me) - Number(a.email === me))
    .map(({ email, name, away }) => ({
      email,
      label: `${name}${email === me ? " (you)" : ""}${away ? " · away" : ""}`,
    }));
}

export const viewNames: Readonly<Record<View, string>> = {
  unassigned: "Unassigned",
  mine: "Mine",
  claimed: "Claimed",
  escalated: "Escalated",
  open: "Open",
  snoozed: "Snoozed",
  resolved: "Resolved",
  all: "All",
};

export const viewIcons: Readonly<Record<View, IconName>> = {
  unassigned: "inbox",
  mine: "person",
  claimed: "people",
  escalated: "alert",
  open: "spark",
  snoozed: "clock",
  resolved: "check",
  all: "layers",
};

export const orderNames: Readonly<Record<WaitingOrder, string>> = {
  urgency: "Most urgent first",
  latest: "Latest message first",
};

export const emptyViews: Readonly<Record<View, readonly [string, string]>> = {
  unassigned: ["All taken care of", "New and escalated conversations appear here."],
  mine: ["Nothing on your desk", "Conversations that you claim appear here."],
  claimed: ["Nobody is at work", "Conversations that you or a colleague have appear here."],
  escalated: ["Nobody is waiting", "Conversations that the assistant hands over appear here."],
  open: ["No open conversations", "Conversations that the assistant answers appear here."],
  snoozed: ["Nothing is snoozed", "Conversations that you put off appear here until they are due."],
  resolved: ["Nothing resolved yet", "Conversations that are done appear here."],
  all: ["No conversations yet", "The first question of a customer appears here."],
};

export const statusNames: Readonly<Record<Status, string>> = {
  open: "Open",
  claimed: "Claimed",
  escalated: "Escalated",
  snoozed: "Snoozed",
  resolved: "Resolved",
  archived: "Archived",
};

export const deliveryNames: Readonly<Record<Delivery, string>> = {
  queued: "Queued",
  sending: "Sending…",
  sent: "Sent",
  delivered: "Delivered",
  read: "Read",
  failed: "Not delivered",
  unknown: "May not have arrived",
};

/** What one person or rule did at a time, as one sentence. Empty where others of the events say it all. */
export function auditText(events: readonly AuditView[]): string {
  const [first] = events;
  if (first === undefined) return "";
  // The steps of the restore are one with it: they carry its time.
  const isStep = ({ createdAt }: AuditView, at: number): boolean =>
    events.slice(0, at).some((earlier) => isUndo(earlier) && earlier.createdAt === createdAt);
  // Who gives it to a colleague does not have it in between.
  const given = events.some(({ action, actor, to }) => action === "assigned" && to !== actor);
  const phrases = events
    .filter((event, at) => !isStep(event, at))
    .filter(({ action, to }) => !(given && action === "status_changed" && to === "claimed"))
    .map((event) => (event.automatic ? automaticPhrase(event) : phrase(event)))
    .filter((text) => text !== "");
  if (phrases.length === 0) return "";
  const said = phrases.join(", ");
  if (first.automatic || beginning(first)) return said.charAt(0).toUpperCase() + said.slice(1);
  return `${first.actor} ${said}`;
}

/** The first event of every conversation. */
export function beginning({ action, from }: AuditView): boolean {
  return action === "status_changed" && from === null;
}

const isUndo = ({ action, from, to, detail }: AuditView): boolean =>
  action === "status_changed" && from === "resolved" && to === "open" && detail === "resolve taken back";

function phrase(event: AuditView): string {
  if (isUndo(event)) return "took the resolve back";
  const { action, actor, from, to } = event;
  switch (action) {
    case "status_changed":
      return statusPhrase(from, to);
    case "assigned":
      // Claiming says it.
      return to === actor ? "" : `assigned it to ${to ?? "nobody"}`;
    case "tagged":
      return `added the tag ${to}`;
    case "untagged":
      return `removed the tag ${from}`;
    case "priority_changed":
      return `set the priority to ${to}`;
    default:
      return action.replaceAll("_", " ");
  }
}

function statusPhrase(from: string | null, to: string | null): string {
  switch (to as Status) {
    case "claimed":
      return from === "snoozed" ? "woke the conversation" : "claimed the conversation";
    case "snoozed":
      return "snoozed the conversation";
    case "resolved":
      return "resolved the conversation";
    case "archived":
      return "archived the conversation";
    case "escalated":
      return from === "snoozed" ? "woke the conversation" : "escalated the conversation";
    case "open":
      if (from === null) return "the conversation began";
      if (from === "claimed") return "released the conversation";
      if (from === "snoozed") return "woke the conversation";
      return from === "escalated" ? "handed the conversation back to the assistant" : "reopened the conversation";
  }
}

function automaticPhrase({ action, actor, from, to, detail }: AuditView): string {
  if (action === "rule_fired") return `${actor.replace(/^rule:/, "the rule ")} fired ${detail ?? ""}`.trim();
  if (action === "skill_called") return `the assistant used ${to ?? "a skill"}, ${detail ?? ""}`;
  // The rule's own line tells all that it did.
  if (actor.startsWith("rule:")) return "";
  if (action !== "status_changed") return "";
  if (from === "snoozed") return "the snooze ended";
  if (to === "resolved") return "resolved: nothing was written for a while";
  if (to === "archived") return "archived: resolved for a while";
  return to === "escalated" ? `handed over to people${detail === null ? "" : `: ${detail}`}` : (to ?? "");
}

export function snoozeText(until: number | null): string {
  return until === null ? "Snoozed until the customer replies" : `Snoozed until ${when(until)}`;
}

const contentCharsMax = 10_000;

/** What is too long for a reply or a note is told, and not cut off: nobody would see what is missing. */
export function tooLong(text: string): string | undefined {
  const over = text.trim().length - contentCharsMax;
  return over <= 0 ? undefined : `Too long by ${over} ${over === 1 ? "character" : "characters"}.`;
}
