import type { MessageFrame, OlderFrame, ReadyFrame } from "../../frames.ts";
import type { ChatMessage } from "./chat-message.ts";
import { storedMessage } from "./chat-message.ts";

/** The part of the conversation that this tab has received: all messages from `firstSeq` to `lastSeq`. */
export interface History {
  firstSeq(): number;
  lastSeq(): number;
  /** Whether messages that the last `ready` announced are still to come. */
  replaying(): boolean;
  /** In order, deleted ones included. */
  messages(): readonly ChatMessage[];
  /** Positions the history as `ready` says. Returns true when the messages so far were dropped. */
  start(ready: ReadyFrame): boolean;
  /**
   * Appends a message, unless it is here already. `gap`: messages before it are missing, and it comes again with them when
   * they are requested. Reported once for each gap.
   */
  append(frame: MessageFrame): "appended" | "ignored" | "gap";
  /** Puts a page before the first message. False: the page is of a history that was dropped. */
  prepend(page: OlderFrame): boolean;
  /** Replaces a message. False: nothing visible changed. */
  amend(frame: MessageFrame): boolean;
  /**
   * Stores the customer's opinion of an answer, the rating in a survey, or the reaction. False: the message is not here.
   */
  setReply(key: string, reply: Pick<ChatMessage, "feedback" | "rating" | "reaction">): boolean;
}

/** `base`: see {@link storedMessage}. */
export function createHistory(base: URL): History {
  const bySeq = new Map<number, ChatMessage>();
  let conversation: string | null = null;
  let firstSeq = 1;
  let lastSeq = 0;
  let announcedSeq = 0;
  /** The position of the gap that was reported last. */
  let gapAfter = -1;

  /** Removes what other messages quote of a deleted one. Returns true where one did. */
  function forgetQuotes(id: string): boolean {
    const quoting = [...bySeq].filter(([, { refersTo }]) => refersTo?.id === id);
    for (const [seq, { refersTo: _, ...message }] of quoting) {
      bySeq.set(seq, { ...message, revision: message.revision + 1 });
    }
    return quoting.length > 0;
  }

  return {
    firstSeq: () => firstSeq,
    lastSeq: () => lastSeq,
    replaying: () => lastSeq < announcedSeq,
    messages: () => [...bySeq.values()].toSorted((a, b) => (a.seq ?? 0) - (b.seq ?? 0)),
    start(ready) {
      const isOther = ready.after < lastSeq || (conversation !== null && ready.conversation !== conversation);
      if (isOther) bySeq.clear();
      if (isOther || ready.after > lastSeq) {
        lastSeq = ready.after;
        firstSeq = ready.after + 1;
      }
      conversation = ready.conversation;
      announcedSeq = ready.lastSeq;
      gapAfter = -1;
      return isOther;
    },
    append(frame) {
      if (frame.seq <= lastSeq) return "ignored";
      if (frame.prev > lastSeq) {
        if (gapAfter === lastSeq) return "ignored";
        gapAfter = lastSeq;
        return "gap";
      }
      lastSeq = frame.seq;
      bySeq.set(frame.seq, storedMessage(frame, base));
      return "appended";
    },
    prepend({ before, after, messages }) {
      if (before !== firstSeq) return false;
      for (const frame of messages) bySeq.set(frame.seq, storedMessage(frame, base));
      firstSeq = after + 1;
      return true;
    },
    amend(frame) {
      const hasForgotten = frame.deleted === true && forgetQuotes(frame.id);
      const shown = bySeq.get(frame.seq);
      if (shown === undefined) return hasForgotten;
      const next = storedMessage(frame, base);
      if (next.deleted === shown.deleted && JSON.stringify(next.content) === JSON.stringify(shown.content)) {
        if (JSON.stringify(next.reaction ?? null) === JSON.stringify(shown.reaction ?? null)) return hasForgotten;
        bySeq.set(frame.seq, { ...shown, reaction: next.reaction ?? null });
        return true;
      }
      bySeq.set(frame.seq, { ...next, key: shown.key, revision: shown.revision + 1 });
      return true;
    },
    setReply(key, reply) {
      const shown = [...bySeq.values()].find((message) => message.key === key);
      if (shown === undefined || shown.seq === null) return false;
      bySeq.set(shown.seq, { ...shown, ...reply });
      return true;
    },
  };
}
