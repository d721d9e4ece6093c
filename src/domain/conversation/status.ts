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
 * Every permitted change of status, and its event. Other pairs are refused. A change from `snoozed` to a state that a
 * snooze can end in ends the snooze; `snoozed` to `snoozed` sets another end.
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

/** For a refused change: the step that is missing, as the end of the error's sentence. */
export function stepBefore(from: Status, to: Status): string {
  if (to === "archived") return "; resolve it first";
  return from === "resolved" || from === "archived" ? "; reopen it first" : "";
}

/** The status after a snooze: the one before it if that was a live one, else `open`. */
export function wakeTarget(snoozedFrom: Status | null): Status {
  return snoozedFrom === "claimed" || snoozedFrom === "escalated" ? snoozedFrom : "open";
}

/**
 * The status after a customer's message: it reopens a closed conversation and ends a snooze; a live conversation keeps
 * its status.
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

/** The status for platforms with fewer states. A claim or an escalation is open to them. */
export type PublicStatus = "open" | "closed" | "snoozed";

export function publicStatusOf(status: Status): PublicStatus {
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
