import type { Channel } from "./message.ts";

export const statuses = ["open", "claimed", "escalated", "snoozed", "resolved", "archived"] as const;
export type Status = (typeof statuses)[number];

export type LifecycleEvent =
  | "conversation.started"
  | "conversation.escalated"
  | "conversation.claimed"
  | "conversation.snoozed"
  | "conversation.resolved"
  | "conversation.archived"
  | "conversation.reopened"
  | "conversation.released"
  | "conversation.deescalated"
  | "conversation.unsnoozed";

/**
 * Every change of status that exists, and the event that tells of it. A pair that is not here does not exist. What
 * leaves `snoozed` for a state that a snooze can end in is a wake; `snoozed` to `snoozed` sets another end.
 */
const transitions: Readonly<Record<Status, Readonly<Partial<Record<Status, LifecycleEvent>>>>> = {
  open: {
    claimed: "conversation.claimed",
    escalated: "conversation.escalated",
    snoozed: "conversation.snoozed",
    resolved: "conversation.resolved",
  },
  escalated: {
    claimed: "conversation.claimed",
    open: "conversation.deescalated",
    snoozed: "conversation.snoozed",
    resolved: "conversation.resolved",
  },
  claimed: {
    open: "conversation.released",
    snoozed: "conversation.snoozed",
    resolved: "conversation.resolved",
  },
  snoozed: {
    open: "conversation.unsnoozed",
    escalated: "conversation.unsnoozed",
    claimed: "conversation.unsnoozed",
    resolved: "conversation.resolved",
  },
  resolved: {
    archived: "conversation.archived",
    open: "conversation.reopened",
    snoozed: "conversation.snoozed",
  },
  archived: {
    open: "conversation.reopened",
    snoozed: "conversation.snoozed",
    resolved: "conversation.resolved",
  },
};

/** The event of this change, or undefined when the lifecycle has no such change. */
export function transitionEvent(from: Status, to: Status): LifecycleEvent | undefined {
  return transitions[from][to];
}

/** For who asks for a change that does not exist: what has to be done before, to follow on what is wrong. */
export function stepBefore(from: Status, to: Status): string {
  if (to === "archived") return "; resolve it first";
  return from === "resolved" || from === "archived" ? "; reopen it first" : "";
}

/** Where a snooze ends: in the state it began in if that was a live one, else in `open`. */
export function wakeTarget(snoozedFrom: Status | null): Status {
  return snoozedFrom === "claimed" || snoozedFrom === "escalated" ? snoozedFrom : "open";
}

/**
 * What a customer's message in this context does to the conversation's status: it reopens what was closed and ends any
 * snooze; a live conversation stays as it is.
 */
export function statusOnCustomerMessage(status: Status, snoozedFrom: Status | null): Status {
  switch (status) {
    case "resolved":
    case "archived":
      return "open";
    case "snoozed":
      return wakeTarget(snoozedFrom);
    case "open":
    case "claimed":
    case "escalated":
      return status;
  }
}

/** The bot answers by itself in `open` only. */
export function botMayAnswer(status: Status): boolean {
  return status === "open";
}

/** Channels whose platform shows its own people whether a conversation is open, closed or snoozed. */
export const standingChannels: ReadonlySet<Channel> = new Set(["intercom"]);

/** How a conversation stands for those who do not know all its states. A claim or an escalation is nothing to them. */
export type Standing = "open" | "closed" | "snoozed";

export function standingOf(status: Status): Standing {
  switch (status) {
    case "resolved":
    case "archived":
      return "closed";
    case "snoozed":
      return "snoozed";
    case "open":
    case "claimed":
    case "escalated":
      return "open";
  }
}

export function slaRuns(status: Status): boolean {
  return status === "open" || status === "escalated";
}
