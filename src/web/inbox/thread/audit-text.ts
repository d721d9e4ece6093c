import { undoneDetail } from "#domain/conversation/audit-details.ts";
import type { Status } from "#domain/conversation/status.ts";
import type { AuditView } from "#http/inbox/wire.ts";

/** A sentence about events of one person or rule at one time. Empty where other events say it. */
export function auditText(events: readonly AuditView[]): string {
  const [first] = events;
  if (first === undefined) return "";
  // The events of an undo have its time, and are not listed by themselves.
  const isStep = ({ createdAt }: AuditView, at: number): boolean =>
    events.slice(0, at).some((earlier) => isUndo(earlier) && earlier.createdAt === createdAt);
  // An agent who assigns a conversation to a colleague did not claim it.
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
  action === "status_changed" && from === "resolved" && to === "open" && detail === undoneDetail;

function phrase(event: AuditView): string {
  if (isUndo(event)) return "took the resolve back";
  const { action, actor, from, to, detail } = event;
  switch (action) {
    case "status_changed":
      return statusPhrase(from, to);
    case "assigned":
      // The claim says it.
      return to === actor ? "" : `assigned it to ${to ?? "nobody"}`;
    case "tagged":
      return `added the tag ${to}`;
    case "untagged":
      return `removed the tag ${from}`;
    case "priority_changed":
      return `set the priority to ${to}`;
    case "rated":
      return `rated the conversation ${to} of 5${detail === null ? "" : `: “${detail}”`}`;
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
  if (action === "skill_called") {
    const did = to === "knowledge_search" ? "searched the documents" : `used ${to ?? "a skill"}`;
    return `the assistant ${did}, ${detail ?? ""}`;
  }
  // The line of the rule has all that it did.
  if (actor.startsWith("rule:")) return "";
  if (action !== "status_changed") return "";
  if (from === "snoozed") return "the snooze ended";
  if (to === "resolved") return "resolved: nothing was written for a while";
  if (to === "archived") return "archived: resolved for a while";
  return to === "escalated" ? `handed over to people${detail === null ? "" : `: ${detail}`}` : (to ?? "");
}
