import type { ConversationView, MessagePage, MessageView } from "#http/inbox/wire.ts";
import { messagesShownMax } from "#http/inbox/wire.ts";

/**
 * The messages of the open conversation that are shown: consecutive, and at most {@link messagesShownMax}. More would make
 * each key press slow, so messages at one end are dropped when some are added at the other.
 */
export type MessageWindow = MessagePage;

export const noMessages: MessageWindow = { messages: [], hasEarlier: false, hasLater: false };

/** Adds the newest messages. An agent who reads further up keeps the same messages, up to date. */
export function withNewest(
  shown: MessageWindow,
  { messages, hasEarlier, lastSeq }: Pick<ConversationView, "messages" | "hasEarlier" | "lastSeq">,
  atEnd: boolean,
): MessageWindow {
  const first = messages[0]?.seq ?? 0;
  const last = shown.messages.at(-1)?.seq ?? 0;
  const isJoined = !shown.hasLater && last >= first - 1;
  if (shown.messages.length === 0 || (atEnd && !shown.hasLater && !isJoined)) {
    return { messages, hasEarlier, hasLater: false };
  }
  if (!isJoined) return { ...refreshed(shown, messages), hasLater: last < lastSeq };
  const all = [...shown.messages.filter(({ seq }) => seq < first), ...messages];
  const isLong = all.length > messagesShownMax;
  return {
    messages: atEnd ? all.slice(-messagesShownMax) : all.slice(0, messagesShownMax),
    hasEarlier: (isLong && atEnd) || (all.length > messages.length ? shown.hasEarlier : hasEarlier),
    hasLater: isLong && !atEnd,
  };
}

export function withEarlier(shown: MessageWindow, { messages, hasEarlier }: MessagePage): MessageWindow {
  const all = [...messages, ...shown.messages];
  return {
    messages: all.slice(0, messagesShownMax),
    hasEarlier,
    hasLater: shown.hasLater || all.length > messagesShownMax,
  };
}

export function withLater(shown: MessageWindow, { messages, hasLater }: MessagePage): MessageWindow {
  const all = [...shown.messages, ...messages];
  return {
    messages: all.slice(-messagesShownMax),
    hasEarlier: shown.hasEarlier || all.length > messagesShownMax,
    hasLater,
  };
}

/** Replaces the messages that were fetched again. */
export function refreshed(shown: MessageWindow, messages: readonly MessageView[]): MessageWindow {
  const fresh = new Map(messages.map((message) => [message.seq, message]));
  return { ...shown, messages: shown.messages.map((message) => fresh.get(message.seq) ?? message) };
}
