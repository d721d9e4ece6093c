import type { Status } from "#domain/conversation/status.ts";
import type { Colleague, Delivery, View, WaitingOrder } from "#http/inbox/wire.ts";
import type { IconName } from "#web/shared/ui/elements.tsx";
import { when } from "#web/shared/ui/time.ts";

const nameCharsMax = 30;

/** A name that fits on a line. */
export function shortName(name: string): string {
  const letters = [...name];
  return letters.length <= nameCharsMax ? name : `${letters.slice(0, nameCharsMax).join("").trimEnd()}…`;
}

/** All agents, oneself first. */
export function agentChoices(
  agents: readonly Colleague[],
  me: string,
): readonly { readonly email: string; readonly name: string; readonly label: string }[] {
  return agents
    .toSorted((a, b) => Number(b.email === me) - Number(a.email === me))
    .map(({ email, name, away }) => ({
      email,
      name,
      label: `${name}${email === me ? " (you)" : ""}${away ? " · away" : ""}`,
    }));
}

export const viewNames: Readonly<Record<View, string>> = {
  unassigned: "Unassigned",
  escalated: "Needs a person",
  open: "With the bot",
  mine: "Mine",
  claimed: "Claimed",
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

export const statusText = (status: Status, snoozedUntil: number | null): string =>
  status === "snoozed" ? snoozeText(snoozedUntil) : statusNames[status];

export function snoozeText(until: number | null): string {
  return until === null ? "Snoozed until the customer replies" : `Snoozed until ${when(until)}`;
}

const contentCharsMax = 10_000;

/** Why a text is too long for a reply or a note. It is not cut off: nobody would see what is missing. */
export function tooLong(text: string): string | undefined {
  const over = text.trim().length - contentCharsMax;
  return over <= 0 ? undefined : `Too long by ${over} ${over === 1 ? "character" : "characters"}.`;
}
