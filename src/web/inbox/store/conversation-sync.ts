import type { ConversationView, Me, MessageView } from "#http/inbox/wire.ts";
import { setServerTime } from "#web/shared/ui/time.ts";
import { RequestFailed } from "#web/shared/request.ts";
import { api } from "./api.ts";
import { withEarlier, withLater } from "./message-window.ts";
import type { Notices } from "#web/shared/ui/notices.ts";
import { messageOf } from "#web/shared/ui/notices.ts";
import type { OpenConversation } from "./open-conversation.ts";

const deliveryPollMs = 2_500;

/** A part of a conversation. `at`: a time. */
export type Place = "first" | "end" | { readonly at: number };

export type ConversationSync = ReturnType<typeof createConversationSync>;

/** Keeps the open conversation as the server has it. */
export function createConversationSync(open: OpenConversation, me: Me, notices: Notices) {
  let pollTimer: ReturnType<typeof setTimeout> | undefined;
  let isExtending = false;

  async function load(): Promise<void> {
    const id = open.selected.value;
    if (id === undefined) return;
    const [first, newest] = [open.shown.value.messages[0]?.seq, open.conversation.value?.messages[0]?.seq];
    try {
      const [conversation, older] = await Promise.all([
        api.conversation(id),
        first !== undefined && newest !== undefined && first < newest
          ? api.messages(id, { from: first, before: newest })
          : undefined,
      ]);
      if (older !== undefined && open.selected.value === id) open.refresh(older.messages);
      receive(conversation);
    } catch (error) {
      const isGone = error instanceof RequestFailed && error.status === 404;
      if (open.selected.value === id && (isGone || open.conversation.value === undefined))
        open.failed(messageOf(error));
    }
  }

  function receive(conversation: ConversationView): void {
    if (conversation.id !== open.selected.value) return;
    setServerTime(conversation.now);
    for (const { role, author } of open.receive(conversation)) {
      if (role === "agent" && author === me.agent.name) continue;
      notices.announce(`New message from ${role === "user" ? conversation.customer.label : (author ?? "Assistant")}`);
    }
    clearTimeout(pollTimer);
    if (![...conversation.messages, ...open.shown.value.messages].some(isUnderWay)) return;
    pollTimer = setTimeout(() => {
      if (document.visibilityState === "visible") void load();
    }, deliveryPollMs);
  }

  /** Adds the page before, or after, the messages that are shown. */
  async function extend(to: "earlier" | "later"): Promise<void> {
    const id = open.selected.value;
    const edgeOf = (): number | undefined => open.shown.value.messages.at(to === "earlier" ? 0 : -1)?.seq;
    const edge = edgeOf();
    if (id === undefined || edge === undefined || isExtending) return;
    isExtending = true;
    try {
      const page = await api.messages(id, to === "earlier" ? { before: edge } : { from: edge + 1 });
      if (open.selected.value !== id || edge !== edgeOf()) return;
      open.shown.value = (to === "earlier" ? withEarlier : withLater)(open.shown.value, page);
    } catch (error) {
      notices.report(error);
    } finally {
      isExtending = false;
    }
  }

  /** Shows another part of the conversation, and moves the focus there. */
  async function jump(place: Place, { focus = true } = {}): Promise<void> {
    const id = open.selected.value;
    const { hasEarlier, hasLater } = open.shown.value;
    const request = { to: place === "end" ? "end" : "top", focus } as const;
    if ((place === "first" && !hasEarlier) || (place === "end" && !hasLater)) return open.jump(request);
    if (id === undefined) return;
    try {
      const messages = await api.messages(id, place === "first" ? { from: 1 } : place === "end" ? {} : place);
      if (open.selected.value === id) open.jump(request, messages);
    } catch (error) {
      notices.report(error);
    }
  }

  return { load, receive, extend, jump };
}

const isUnderWay = ({ delivery, changing }: MessageView): boolean =>
  changing !== null || delivery?.state === "queued" || delivery?.state === "sending";
