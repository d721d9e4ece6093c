import type { OutboundMessage } from "#channels/contract.ts";
import { DeliveryError } from "#channels/errors.ts";
import type { Actor, Source } from "#domain/conversation/message.ts";
import type { WorkspaceSettings } from "#domain/workspace/settings.ts";
import type { ConversationRow } from "#database/queries/conversations.ts";
import type { MessagesTable } from "#database/schema/tables.ts";
import type { Draft } from "#conversations/transaction/draft.ts";
import type { NewMessage, NewPart } from "#conversations/transaction/new-message.ts";
import type { Channels, FollowUp } from "#channels/channels.ts";
import { renderReply, unnamed } from "#conversations/references/outbound-reference.ts";
import { windowOf } from "#conversations/delivery/reroute/reply-window.ts";
import { escalate } from "#conversations/transaction/owner.ts";

/**
 * Returns the parts to send for a message; none over the API, where the client fetches it. A customer who wrote through
 * another account last gets it there too. Otherwise `followUp` sends it if the customer does not read it.
 */
export function renderParts(
  channels: Channels,
  row: ConversationRow,
  message: OutboundMessage,
  now: number,
  followUp?: FollowUp,
): readonly NewPart[] {
  if (row.channel === "api") return [];
  const elsewhere = row.via_account_id === null ? followUp : { accountId: row.via_account_id, afterMs: 0 };
  const more =
    elsewhere === undefined || !channels.loaded({ id: elsewhere.accountId })
      ? []
      : renderReply(channels.adapter({ id: elsewhere.accountId }), unnamed(message)).map((part): NewPart => ({
          payload: JSON.stringify(part),
          elsewhere,
        }));
  const parts = ownParts(channels, row, message, now);
  // If the own channel's window is closed, the other route alone is enough.
  return more.length > 0 && parts.some(({ closed }) => closed !== undefined) ? more : [...parts, ...more];
}

/** Parts for the conversation's own channel. A closed reply window is detected before anything is queued. */
function ownParts(channels: Channels, row: ConversationRow, message: OutboundMessage, now: number): readonly NewPart[] {
  const window = windowOf(channels, row, now);
  const outside = window === undefined || window.isOpen ? undefined : window.of.outside(message);
  const parts = Array.isArray(outside) ? outside : renderReply(channels.adapter({ id: row.account_id }), message);
  if (parts.length === 0) throw new Error(`the adapter of ${row.channel} rendered nothing`);
  return parts.map((part): NewPart => ({
    payload: JSON.stringify(part),
    ...(typeof outside === "string" ? { closed: outside } : {}),
  }));
}

/** Loads an account, and ignores that it was removed: nothing is sent through it then. */
export async function readyIfLoaded(channels: Channels, accountId: string): Promise<void> {
  try {
    await channels.ready({ id: accountId });
  } catch (error) {
    if (!(error instanceof DeliveryError)) throw error;
  }
}

/** Stores a message of the bot and queues it. `forPeople`: agents have the conversation from now on. */
export function addBotMessage(
  draft: Draft,
  channels: Channels,
  settings: WorkspaceSettings,
  sources: readonly Source[],
  message: Omit<NewMessage, "role" | "sources">,
  forPeople = draft.row.status === "escalated",
): MessagesTable {
  const authorName = settings.botName;
  return draft.addMessage({
    role: "assistant",
    authorName,
    sources: JSON.stringify(sources),
    skills: "[]",
    tokensUsed: 0,
    ...message,
    parts: renderParts(
      channels,
      draft.row,
      {
        role: "assistant",
        authorName,
        markdown: message.content,
        // The nearest passages of a refusal are no sources of its text.
        sources: message.kind === "refusal" ? [] : sources,
        ...(forPeople ? { forPeople } : {}),
        ...(message.kind === undefined || message.kind === null || message.kind === "rating"
          ? {}
          : { kind: message.kind }),
      },
      draft.now,
    ),
  });
}

/** Escalates the conversation and sends the customer a message about it, which is returned. */
export function handOver(
  draft: Draft,
  channels: Channels,
  settings: WorkspaceSettings,
  actor: Actor,
  details: {
    readonly reason?: string;
    readonly answersSeq?: number;
    /** Skills that led to the hand-over. */
    readonly skills?: readonly string[];
    readonly tokensUsed?: number;
  },
): MessagesTable {
  const newMessage = {
    content: settings.handoverMessage,
    ...(details.answersSeq === undefined ? {} : { answersSeq: details.answersSeq }),
    ...(details.skills === undefined ? {} : { skills: JSON.stringify(details.skills) }),
    ...(details.tokensUsed === undefined ? {} : { tokensUsed: details.tokensUsed }),
  };
  const message = addBotMessage(draft, channels, settings, [], newMessage, true);
  escalate(draft, actor, details.reason);
  return message;
}
