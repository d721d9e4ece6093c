import { signal } from "@preact/signals";
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { LiveEvent, Me } from "#http/inbox/wire.ts";
import { createSending } from "./composer/sending.ts";
import { createUploads } from "./composer/uploads.ts";
import { focusSearch } from "./list/focus.ts";
import { createSelection } from "./list/selection.ts";
import { createNotifier } from "./notifications/notifier.ts";
import { createActions } from "./store/actions.ts";
import { hashOf, parseHash } from "./store/address.ts";
import { api } from "./store/api.ts";
import { createConversationSync } from "./store/conversation-sync.ts";
import { createDelayed } from "./store/delayed.ts";
import { createDrafts } from "./store/drafts.ts";
import { createListState } from "./store/list-state.ts";
import { createListSync } from "./store/list-sync.ts";
import { listen } from "./store/live-events.ts";
import { createNotices } from "#web/shared/ui/notices.ts";
import { createOpenConversation } from "./store/open-conversation.ts";
import { createTeam } from "./store/team.ts";
import { createOwnReplies } from "./thread/own-replies.ts";
import { shortName } from "./ui/labels.ts";

const refreshDelayMs = 120;
/** How long the notice of an assignment is shown. */
const assignedMs = 20_000;

/** A question that is asked before something is done, or the list of shortcuts. */
export type Dialog =
  | { readonly kind: "shortcuts" | "remove-manual" }
  | { readonly kind: "date" }
  | { readonly kind: "skipped-messages" }
  | { readonly kind: "macros" }
  | { readonly kind: "take-over" | "held"; readonly name: string }
  | { readonly kind: "delete-reply"; readonly customer: string; readonly messageId: string };

export type InboxStore = ReturnType<typeof createInboxStore>;

/** All that the inbox shows and does. Components read its signals and call its functions. */
export function createInboxStore(me: Me) {
  const notices = createNotices();
  const notifier = createNotifier(me.agent.email, notices);
  const drafts = createDrafts(me.agent.email);
  const uploads = createUploads(drafts);
  const list = createListState(me.agent.waitingOrder);
  const open = createOpenConversation();
  const team = createTeam();
  const dialog = signal<Dialog | undefined>(undefined);
  const isConnected = signal(true);
  const hasManual = signal(me.hasManual);
  /** On a small screen: the details are shown in place of the conversation. */
  const isShowingDetails = signal(false);

  const listSync = createListSync(list, notices);
  const conversationSync = createConversationSync(open, me, notices);
  const refreshConversation = createDelayed(
    () => void conversationSync.load(),
    () => refreshDelayMs,
  );
  /** Loads the list, and the open conversation, as often as is good for the server. */
  function refresh(withConversation: boolean): void {
    notifier.onActivity();
    if (withConversation) refreshConversation();
    listSync.refresh();
  }

  const actions = createActions(me, list, open, notices, conversationSync, refresh);
  const sending = createSending(open, drafts, uploads, actions, conversationSync, (name) => {
    dialog.value = { kind: "held", name };
  });
  const ownReplies = createOwnReplies(open, actions, notices);
  const selection = createSelection(list, notices, {
    resolved: actions.forgetResolve,
    refresh: () => refresh(true),
  });

  /** Shows what the address names. */
  function follow(hash: string): void {
    const { view = list.view.value, id } = parseHash(hash);
    if (view !== list.view.value) listSync.begin({ view });
    if (id === open.selected.value) return;
    open.select(id);
    void conversationSync.load();
  }

  function onEvent(event: LiveEvent): void {
    const { conversationId } = event;
    if (event.kind === "changed") refresh(conversationId === open.selected.value);
    else if (event.kind === "assigned") {
      const text = assignedText(event);
      const action = { label: "Open it", href: hashOf("mine", conversationId) };
      notices.show({ kind: "done", text, action }, assignedMs);
      notifier.assigned(text, conversationId);
    } else if (conversationId === open.selected.value) open.customerTypes();
  }

  return {
    me,
    /** Viewers read only. The server refuses their changes. */
    canWrite: me.agent.role !== "viewer",
    notices,
    notifier,
    drafts,
    uploads,
    list,
    open,
    team,
    dialog,
    isConnected,
    hasManual,
    isShowingDetails,
    listSync,
    conversationSync,
    actions,
    sending,
    ownReplies,
    selection,
    follow,
    async removeManual(): Promise<void> {
      try {
        await api.removeManual();
        hasManual.value = false;
        focusSearch();
        notices.done("The built-in manual was removed.");
      } catch (error) {
        notices.report(error);
      }
    },
    start(hash: string): void {
      const before = list.view.value;
      follow(hash);
      if (list.view.value === before) void listSync.load();
      void listSync.loadCounts();
      // Another window may hold the connection: then this one is not told that it is connected.
      void team.load();
      listen({
        connected() {
          // After a restart the server may have other agents and saved replies.
          void team.load();
          isConnected.value = true;
          refresh(true);
        },
        lost() {
          isConnected.value = false;
          // If the session has ended, this leads to the sign-in page.
          api.me().catch(() => undefined);
        },
        event: onEvent,
      });
    },
  };
}

function assignedText({ by, customer }: Extract<LiveEvent, { kind: "assigned" }>): string {
  const name = shortName(customer);
  return by === null
    ? `The conversation with ${name} was assigned to you.`
    : `${by} assigned the conversation with ${name} to you.`;
}

export const InboxContext = createContext<InboxStore | undefined>(undefined);

export function useInbox(): InboxStore {
  const store = useContext(InboxContext);
  if (store === undefined) throw new Error("no inbox above this component");
  return store;
}
