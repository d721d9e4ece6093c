import type { ConversationView, MessagePage, MessageView } from "#http/inbox/wire.ts";
import { messagesShownMax } from "#http/inbox/wire.ts";

/**
 * The messages of the open conversation that are held and drawn: consecutive, and at most {@link messagesShownMax}. A
 * longer conversation would make each key press slow, so messages at one end are dropped when some are added at the other.
 */
export type Reading = MessagePage;

export const nothingRead: Reading = { messages: [], hasEarlier: false, hasLater: false };

/** The newest messages were fetched. An agent who reads further up keeps what they read, up to date. */
export function withNewest(
  reading: Reading,
  { messages, hasEarlier, lastSeq }: Pick<ConversationView, "messages" | "hasEarlier" | "lastSeq">,
  atEnd: boolean,
): Reading {
  const first = messages[0]?.seq ?? 0;
  const last = reading.messages.at(-1)?.seq ?? 0;
  const isJoined = !reading.hasLater && last >= first - 1;
  if (reading.messages.length === 0 || (atEnd && !reading.hasLater && !isJoined)) {
    return { messages, hasEarlier, hasLater: false };
  }
  if (!isJoined) return { ...refreshed(reading, messages), hasLater: last < lastSeq };
  const all = [...reading.messages.filter(({ seq }) => seq < first), ...messages];
  const isLong = all.length > messagesShownMax;
  return {
    messages: atEnd ? all.slice(-messagesShownMax) : all.slice(0, messagesShownMax),
    hasEarlier: (isLong && atEnd) || (all.length > messages.length ? reading.hasEarlier : hasEarlier),
    hasLater: isLong && !atEnd,
  };
}

export function withEarlier(reading: Reading, { messages, hasEarlier }: MessagePage): Reading {
  const all = [...messages, ...reading.messages];
  return {
    messages: all.slice(0, messagesShownMax),
    hasEarlier,
    hasLater: reading.hasLater || all.length > messagesShownMax,
  };
}

export function withLater(reading: Reading, { messages, hasLater }: MessagePage): Reading {
  const all = [...reading.messages, ...messages];
  return {
    messages: all.slice(-messagesShownMax),
    hasEarlier: reading.hasEarlier || all.length > messagesShownMax,
    hasLater,
  };
}

/** Those that were fetched again replace what was known of them. */
export function refreshed(reading: Reading, messages: readonly MessageView[]): Reading {
  const fresh = new Map(messages.map((message) => [message.seq, message]));
  return { ...reading, messages: reading.messages.map((message) => fresh.get(message.seq) ?? message) };
}
