import type { OutboundMessage } from "#channel/contract.ts";
import type { Actor, Source } from "#domain/message.ts";
import type { WorkspaceSettings } from "#domain/workspace.ts";
import type { ConversationRow } from "#store/conversations.ts";
import type { MessagesTable } from "#store/schema.ts";
import type { Draft, NewMessage } from "./changes.ts";
import type { Channels } from "./ports.ts";

/** The platform calls that bring a text to the customer; none over the API, where the client fetches it. */
export function renderParts(
  channels: Channels,
  row: ConversationRow,
  message: OutboundMessage,
): readonly { readonly payload: string }[] {
  if (row.channel === "api") return [];
  const parts = channels.render({ id: row.account_id }, message);
  if (parts.length === 0) throw new Error(`the adapter of ${row.channel} rendered nothing`);
  return parts.map((part) => ({ payload: JSON.stringify(part) }));
}

/** Stores what the bot says, and queues it for the customer. */
export function say(
  draft: Draft,
  channels: Channels,
  settings: WorkspaceSettings,
  sources: readonly Source[],
  message: Omit<NewMessage, "role" | "sources">,
): MessagesTable {
  const authorName = settings.botName;
  return draft.addMessage({
    role: "assistant",
    authorName,
    sources: JSON.stringify(sources),
    skills: "[]",
    tokensUsed: 0,
    ...message,
    parts: renderParts(channels, draft.row, { role: "assistant", authorName, markdown: message.content, sources }),
  });
}

/** Hands the conversation to people, and tells the customer so. The message that tells it. */
export function handOver(
  draft: Draft,
  channels: Channels,
  settings: WorkspaceSettings,
  actor: Actor,
  how: {
    readonly reason?: string;
    readonly answersSeq?: number;
    /** What has led to it. */
    readonly skills?: readonly string[];
    readonly tokensUsed?: number;
  },
): MessagesTable {
  const { row } = draft;
  const message = say(draft, channels, settings, [], {
    content: settings.handoverMessage,
    ...(how.answersSeq === undefined ? {} : { answersSeq: how.answersSeq }),
    ...(how.skills === undefined ? {} : { skills: JSON.stringify(how.skills) }),
    ...(how.tokensUsed === undefined ? {} : { tokensUsed: how.tokensUsed }),
  });
  draft.setStatus("escalated", actor, how.reason === undefined ? {} : { reason: how.reason });
  draft.setTags(["escalated"], [], actor);
  row.low_streak = 0;
  row.settled_seq = row.last_customer_seq;
  return message;
}
