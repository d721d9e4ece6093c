import { action, signal } from "@preact/signals";
import type { ConversationView, MessageView } from "#http/inbox/wire.ts";
import type { MessageWindow } from "./message-window.ts";
import { noMessages, refreshed, withNewest } from "./message-window.ts";
import { keepIfEqual, keepUnchanged } from "./unchanged.ts";

const typingShownMs = 6_000;

/** Asks the message log to scroll. Each request is another object. */
export interface ScrollRequest {
  readonly to: "top" | "end";
  /** Moves the focus there too. */
  readonly focus: boolean;
}

export type OpenConversation = ReturnType<typeof createOpenConversation>;

/** The conversation that the address names. */
export function createOpenConversation() {
  const state = {
    selected: signal<string | undefined>(undefined),
    /** Undefined until it is loaded. */
    conversation: signal<ConversationView | undefined>(undefined),
    shown: signal(noMessages),
    failure: signal<string | undefined>(undefined),
    isCustomerTyping: signal(false),
    /** The messages that a reply was held back for. */
    unseen: signal<readonly MessageView[] | undefined>(undefined),
    /** The agent looks at the newest message. */
    isAtEnd: signal(true),
    scroll: signal<ScrollRequest | undefined>(undefined),
  };
  const { selected, conversation, shown, failure, isCustomerTyping, unseen, isAtEnd, scroll } = state;
  let typingTimer: ReturnType<typeof setTimeout> | undefined;

  return {
    ...state,
    select: action((id: string | undefined) => {
      selected.value = id;
      conversation.value = undefined;
      shown.value = noMessages;
      failure.value = undefined;
      isCustomerTyping.value = false;
      unseen.value = undefined;
      scroll.value = undefined;
      isAtEnd.value = true;
    }),
    /** Returns the messages that came in since it was received last. */
    receive: action((received: ConversationView): readonly MessageView[] => {
      const before = conversation.value;
      const messages = keepUnchanged(shown.value.messages, received.messages);
      const notes = keepUnchanged(before?.notes ?? [], received.notes);
      const view = { ...received, messages, notes, amendable: keepIfEqual(before?.amendable, received.amendable) };
      conversation.value = view;
      failure.value = undefined;
      shown.value = withNewest(shown.value, view, isAtEnd.value);
      if (before === undefined) return [];
      if (view.lastSeq > before.lastSeq) isCustomerTyping.value = false;
      return messages.filter(({ seq }) => seq > before.lastSeq);
    }),
    refresh(messages: readonly MessageView[]): void {
      shown.value = refreshed(shown.value, keepUnchanged(shown.value.messages, messages));
    },
    /** Shows for a while that the customer is writing. */
    customerTypes(): void {
      isCustomerTyping.value = true;
      clearTimeout(typingTimer);
      typingTimer = setTimeout(() => (isCustomerTyping.value = false), typingShownMs);
    },
    jump: action((request: ScrollRequest, messages: MessageWindow = shown.value) => {
      shown.value = messages;
      scroll.value = request;
    }),
    failed: action((reason: string) => {
      conversation.value = undefined;
      failure.value = reason;
    }),
  };
}
