import { cut, plainText } from "#conversations/references/shown-references.ts";
import type { ReactionsTable } from "#database/schema/feedback.ts";
import type { Status } from "#domain/conversation/status.ts";
import type { AuditTable, MessagesTable } from "#database/schema/tables.ts";

/** Text of an audit entry in the thread. */
export async function eventText(
  entry: Pick<AuditTable, "action" | "actor_type" | "actor_id" | "actor_name" | "from_value" | "to_value" | "detail">,
  agentName: (email: string) => Promise<string>,
): Promise<string> {
  const name = await actorOf();
  const who = name.replace(/^(?:the|an) /, (article) => `${article.slice(0, 1).toUpperCase()}${article.slice(1)}`);
  if (entry.action === "assigned") {
    const to = entry.to_value === null ? "somebody" : await agentName(entry.to_value);
    const from = entry.from_value === null ? "" : ` from ${await agentName(entry.from_value)}`;
    return name === to ? `${to} took it over${from}.` : `${who} gave it to ${to}${from === "" ? "" : `,${from}`}.`;
  }
  const reason = entry.detail === null ? "" : `: ${entry.detail}`;
  const text = `${statusText(entry.from_value as Status | null, entry.to_value as Status, { who, name })}${reason}`;
  return text.endsWith(".") ? text : `${text}.`;

  async function actorOf(): Promise<string> {
    switch (entry.actor_type) {
      case "agent":
        return entry.actor_id === null ? (entry.actor_name ?? "an agent") : agentName(entry.actor_id);
      case "api_key":
        return entry.actor_name === null ? "the API" : `API: ${entry.actor_name}`;
      case "customer":
        return entry.actor_name ?? "the customer";
      case "assistant":
        return "the assistant";
      default:
        return "Parley";
    }
  }
}

/** `who` begins a sentence, `name` stands within one. */
function statusText(
  from: Status | null,
  to: Status,
  { who, name }: { readonly who: string; readonly name: string },
): string {
  switch (to) {
    case "claimed":
      return from === "snoozed" ? "Back from its snooze" : `${who} claimed it`;
    case "escalated":
      return from === "snoozed" ? "Back from its snooze" : "Handed to people";
    case "open":
      if (from === "claimed") return `${who} released it to the bot`;
      if (from === "snoozed") return "Back from its snooze";
      return from === "escalated" ? `${who} gave it back to the bot` : `Reopened by ${name}`;
    case "snoozed":
      return `${who} snoozed it`;
    case "resolved":
      return `Resolved by ${name}`;
    case "archived":
      return `Archived by ${name}`;
  }
}

/** Text about a changed message whose post cannot be edited. `files`: names. */
export function changedText(message: MessagesTable, files: readonly string[]): string {
  const who = message.role === "user" ? "The customer" : (message.author_name ?? "An agent");
  // Files of an album arrive one by one.
  if (message.deleted_at === null && message.edited_at === null) {
    return `${who} added files to a message: ${[message.content, ...files].filter((text) => text !== "").join(", ")}`;
  }
  return message.deleted_at === null
    ? `${who} changed a message. It reads now: ${message.content}`
    : `${who} took back a message.`;
}

const quotedMax = 60;

/** Text about customers' reactions to a message; the last one may have been taken back. */
export function reactedText(
  message: Pick<MessagesTable, "role" | "content">,
  reactions: readonly Pick<ReactionsTable, "emoji" | "author_name">[],
): string {
  const quoted = cut(plainText(message).replaceAll(/\s+/g, " ").trim(), quotedMax);
  const to = quoted === "" ? "a message" : `“${quoted}”`;
  if (reactions.length === 0) return `The customer took back their reaction to ${to}.`;
  const names = new Set(reactions.map(({ author_name: name }) => name ?? "The customer"));
  const emoji = new Set(reactions.map((each) => each.emoji));
  return `${[...names].join(", ")} reacted with ${[...emoji].join(" ")} to ${to}`;
}
