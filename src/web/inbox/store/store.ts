import type { ConversationView, ListItem, Me, MessageView, Person, View } from "#http/inbox/wire.ts";
import { views } from "#http/inbox/wire.ts";
import type { Action } from "./api.ts";
import { api, listen, Refused } from "./api.ts";
import type { InboxStore, InboxListener, InboxState } from "./state.ts";
import { hashOf, listEveryMs } from "./state.ts";
import type { Drafts } from "./drafts.ts";
import { newClientId } from "./drafts.ts";
import { nothingRead, refreshed, withEarlier, withLater, withNewest } from "./reading.ts";
import { setServerTime } from "#web/inbox/ui/time.ts";
import { shortName } from "#web/inbox/ui/labels.ts";

const refreshDelayMs = 120;
const typingShownMs = 6_000;
const typingToldMs = 3_000;
const deliveryPollMs = 2_500;
const searchDelayMs = 250;

const doneTexts = {
  claim: "The conversation is yours.",
  release: "Released: the assistant answers again from the next message.",
  archive: "Archived.",
  reopen: "Open again.",
  snooze: "Snoozed.",
} as const;
const doneTextOf = (action: Action): string | undefined =>
  action in doneTexts ? doneTexts[action as keyof typeof doneTexts] : undefined;

export function createInboxStore(me: Me, drafts: Drafts, listener: InboxListener): InboxStore {
  let state: InboxState = {
    me,
    agents: [],
    savedReplies: [],
    view: "unassigned",
    query: "",
    order: me.agent.waitingOrder,
    items: [],
    nextCursor: null,
    list: "loading",
    counts: undefined,
    selected: undefined,
    conversation: undefined,
    reading: nothingRead,
    failure: undefined,
    customerTyping: false,
    connected: true,
    newer: undefined,
    busy: false,
  };
  let listRun = 0;
  let pages = 1;
  let conversationTimer: ReturnType<typeof setTimeout> | undefined;
  let listTimer: ReturnType<typeof setTimeout> | undefined;
  let listedAt = 0;
  let searchTimer: ReturnType<typeof setTimeout> | undefined;
  let typingTimer: ReturnType<typeof setTimeout> | undefined;
  let pollTimer: ReturnType<typeof setTimeout> | undefined;
  let typingToldAt = 0;
  let extending = false;
  let undoable: { readonly id: string; readonly view: View; readonly snoozedUntil: number | null } | undefined;

  const set = (change: Partial<InboxState>): void => {
    state = { ...state, ...change };
    listener.changed();
  };

  const messageOf = (error: unknown): string =>
    error instanceof Refused ? error.message : "Something went wrong in this page. Please load it again.";

  const report = (error: unknown): void => {
    if (!(error instanceof Refused)) console.error(error);
    listener.notice(messageOf(error), "problem");
  };

  /** Fetches as many pages as are shown. A later call makes an earlier one void. */
  async function loadList(): Promise<void> {
    listRun += 1;
    const run = listRun;
    const { view, query, order } = state;
    try {
      const items: ListItem[] = [];
      let cursor: string | undefined;
      let nextCursor: string | null = null;
      for (let page = 0; page < pages; page += 1) {
        const got = await api.list(view, query, cursor === undefined ? { order } : { order, cursor });
        if (run !== listRun) return;
        setServerTime(got.now);
        items.push(...got.items);
        nextCursor = got.nextCursor;
        if (nextCursor === null) break;
        cursor = nextCursor;
      }
      set({ items: distinct(items), nextCursor, list: "ready" });
    } catch (error) {
      if (run === listRun) set({ list: "failed", failure: messageOf(error) });
    }
  }

  async function loadCounts(): Promise<void> {
    try {
      set({ counts: await api.counts() });
    } catch {
      // The list says that the server cannot be reached; counts are not worth a second word.
    }
  }

  async function loadAgents(): Promise<void> {
    try {
      set({ agents: await api.agents() });
    } catch {
      // Who was known is still there to choose from; the next time it is tried again.
    }
  }

  /** They change when the server starts anew. */
  async function loadSavedReplies(): Promise<void> {
    try {
      set({ savedReplies: await api.savedReplies() });
    } catch {
      // As with the agents.
    }
  }

  async function loadConversation(): Promise<void> {
    const { selected } = state;
    if (selected === undefined) return;
    const { messages } = state.reading;
    const [first, newest] = [messages[0]?.seq, state.conversation?.messages[0]?.seq];
    try {
      const [conversation, older] = await Promise.all([
        api.conversation(selected),
        first !== undefined && newest !== undefined && first < newest
          ? api.messages(selected, { from: first, before: newest })
          : undefined,
      ]);
      if (older !== undefined && state.selected === selected) {
        set({ reading: refreshed(state.reading, older.messages) });
      }
      show(conversation);
    } catch (error) {
      if (state.selected === selected && state.conversation === undefined) set({ failure: messageOf(error) });
      else if (error instanceof Refused && error.status === 404)
        set({ conversation: undefined, failure: error.message });
    }
  }

  function show(conversation: ConversationView): void {
    if (conversation.id !== state.selected) return;
    setServerTime(conversation.now);
    const before = state.conversation;
    const known = before?.id === conversation.id ? before.lastSeq : undefined;
    set({
      conversation,
      failure: undefined,
      reading: withNewest(known === undefined ? nothingRead : state.reading, conversation, listener.atEnd()),
      ...(known !== undefined && conversation.lastSeq > known ? { customerTyping: false } : {}),
    });
    if (known !== undefined) {
      const arrived = conversation.messages.filter(({ seq }) => seq > known);
      if (arrived.length > 0) listener.arrived(arrived, conversation);
    }
    clearTimeout(pollTimer);
    const isUnderWay = ({ delivery, changing }: MessageView): boolean =>
      changing !== null || delivery?.state === "queued" || delivery?.state === "sending";
    if ([...conversation.messages, ...state.reading.messages].some(isUnderWay)) {
      pollTimer = setTimeout(() => {
        if (document.visibilityState === "visible") void loadConversation();
      }, deliveryPollMs);
    }
  }

  /** The open conversation at once, the list as often as {@link listEveryMs} says. */
  function refresh(withConversation: boolean): void {
    listener.onActivity();
    if (withConversation) {
      conversationTimer ??= setTimeout(() => {
        conversationTimer = undefined;
        void loadConversation();
      }, refreshDelayMs);
    }
    listTimer ??= setTimeout(
      () => {
        listTimer = undefined;
        listedAt = Date.now();
        void loadList();
        void loadCounts();
      },
      Math.max(refreshDelayMs, listedAt + listEveryMs() - Date.now()),
    );
  }

  /** Refused because somebody else has the conversation now. */
  const isOthers = (error: unknown): error is Refused & { refusal: { assignee: Person } } =>
    error instanceof Refused &&
    error.refusal?.assignee !== undefined &&
    error.refusal.assignee.email !== me.agent.email;

  async function during(
    work: () => Promise<ConversationView>,
    whenTaken: (name: string) => void = (name) => listener.claimedByOther(name),
  ): Promise<boolean> {
    if (state.busy) return false;
    set({ busy: true });
    try {
      show(await work());
      listener.settled();
      refresh(false);
      return true;
    } catch (error) {
      if (error instanceof Refused && error.refusal?.newer !== undefined) {
        set({ newer: error.refusal.newer });
        void loadConversation();
      } else if (isOthers(error)) {
        whenTaken(error.refusal.assignee.name);
        refresh(true);
      } else {
        report(error);
        if (error instanceof Refused && error.status === 409) refresh(true);
      }
      return false;
    } finally {
      set({ busy: false });
    }
  }

  function follow(hash: string, { isFirst = false } = {}): void {
    const [, viewName, id] = /^#\/([a-z]+)(?:\/(conv_[0-9a-z]{26}))?$/.exec(hash) ?? [];
    const view = views.find((name) => name === viewName) ?? state.view;
    const viewChanged = view !== state.view;
    const idChanged = id !== state.selected;
    if (viewChanged) pages = 1;
    set({
      view,
      ...(viewChanged ? { items: [], nextCursor: null, list: "loading" as const } : {}),
      ...(idChanged
        ? {
            selected: id,
            conversation: undefined,
            reading: nothingRead,
            failure: undefined,
            customerTyping: false,
            newer: undefined,
          }
        : {}),
    });
    if (viewChanged || isFirst) void loadList();
    if (idChanged) void loadConversation();
  }

  return {
    state: () => state,
    follow: (hash) => follow(hash),
    search(query) {
      clearTimeout(searchTimer);
      searchTimer = setTimeout(() => {
        if (query === state.query) return;
        pages = 1;
        set({ query, items: [], nextCursor: null, list: "loading" });
        void loadList();
      }, searchDelayMs);
    },
    orderBy(order) {
      if (order === state.order) return;
      pages = 1;
      set({ order, items: [], nextCursor: null, list: "loading" });
      void loadList();
      api.setWaitingOrder(order).catch(report);
    },
    refresh: () => refresh(true),
    async more() {
      const { nextCursor, view, query, order } = state;
      if (nextCursor === null || state.list === "failed") return loadList();
      const run = listRun;
      try {
        const got = await api.list(view, query, { order, cursor: nextCursor });
        pages += 1;
        // Where the list was fetched anew meanwhile, this is no page of it.
        if (run !== listRun) return await loadList();
        set({ items: distinct([...state.items, ...got.items]), nextCursor: got.nextCursor });
      } catch (error) {
        report(error);
      }
    },
    async extend(to) {
      const { selected, reading } = state;
      const edge = to === "earlier" ? reading.messages[0]?.seq : reading.messages.at(-1)?.seq;
      if (selected === undefined || edge === undefined || extending) return;
      extending = true;
      try {
        const got = await api.messages(selected, to === "earlier" ? { before: edge } : { from: edge + 1 });
        const now = state.reading.messages;
        const isThere = state.selected === selected && edge === (to === "earlier" ? now[0] : now.at(-1))?.seq;
        if (isThere) set({ reading: (to === "earlier" ? withEarlier : withLater)(state.reading, got) });
      } catch (error) {
        report(error);
      } finally {
        extending = false;
      }
    },
    async jump(to) {
      const { selected } = state;
      if (selected === undefined) return false;
      try {
        const range = to === "first" ? { from: 1 } : to === "end" ? {} : to;
        const reading = await api.messages(selected, range);
        if (state.selected !== selected) return false;
        set({ reading });
        return true;
      } catch (error) {
        report(error);
        return false;
      }
    },
    async act(action, body) {
      const id = state.selected;
      if (id === undefined) return false;
      // A claim and a reply look by themselves at who has it; of all else the newest word must be known.
      const looksItself = action === "claim" || action === "reply" || action === "notes";
      const seen = looksItself || state.conversation === undefined ? {} : { seen: seenOf(state.conversation) };
      const { conversation, view } = state;
      const next = nextInList(state.items, id);
      const done = await during(() => api.act(id, action, { ...seen, ...body }));
      if (done && action === "resolve") {
        undoable = { id, view, snoozedUntil: conversation?.snoozedUntil ?? null };
        listener.resolved(state.selected === id ? next : undefined);
      }
      const text = doneTextOf(action);
      if (done && text !== undefined) listener.notice(text, "done");
      return done;
    },
    async undo() {
      if (undoable === undefined) return listener.notice("There is nothing to undo.", "problem");
      const { id, view, snoozedUntil } = undoable;
      const done = await during(() => api.act(id, "undo-resolve", { snoozedUntil }));
      if (!done) return;
      undoable = undefined;
      listener.notice("Reopened.", "done");
      location.hash = hashOf(view, id);
    },
    forgetResolve: () => void (undoable = undefined),
    async change(body) {
      const id = state.selected;
      return id === undefined ? false : during(() => api.change(id, body));
    },
    async assign(to, offered) {
      const done = await during(() => api.act(offered.id, "assign", { to, seen: seenOf(offered) }));
      const name = state.agents.find(({ email }) => email === to)?.name ?? to;
      if (done) {
        listener.notice(
          to === null
            ? doneTexts.release
            : to === me.agent.email
              ? doneTexts.claim
              : `Assigned to ${name}, who is told of it.`,
          "done",
        );
      }
      return done;
    },
    loadAgents,
    async send({ force = false, anyway = false } = {}) {
      const id = state.selected;
      const { conversation } = state;
      if (id === undefined || conversation === undefined) return false;
      const draft = drafts.read(id);
      const content = draft[draft.mode].trim();
      const files = draft.mode === "reply" ? draft.files.map((file) => file.id) : [];
      if (content === "" && files.length === 0) return false;
      const { clientId } = draft;
      const { lastSeq } = conversation;
      const done = await during(
        () =>
          draft.mode === "note"
            ? api.act(id, "notes", { content, clientId })
            : api.act(id, "reply", { content, clientId, lastSeq, force, anyway, files }),
        (name) => listener.heldByOther(name),
      );
      if (done) {
        drafts.write(id, { [draft.mode]: writtenSince(drafts.read(id)[draft.mode], content) });
        drafts.write(id, { clientId: newClientId(), ...(draft.mode === "reply" ? { files: [] } : {}) });
        set({ newer: undefined });
      }
      return done;
    },
    async amend(messageId, content, was) {
      const id = state.selected;
      if (id === undefined) return false;
      const done = await during(() =>
        content === null
          ? api.takeBack(id, messageId)
          : api.amend(id, messageId, { content, ...(was === undefined ? {} : { was }) }),
      );
      if (done) {
        // The answer has the newest messages only.
        if (state.conversation?.messages.every((message) => message.id !== messageId)) await loadConversation();
        const waits = state.reading.messages.some((message) => message.id === messageId && message.changing !== null);
        const what = content === null ? "deleted" : "changed";
        listener.notice(waits ? `Your reply is being ${what}.` : `Your reply was ${what}.`, "done");
      }
      return done;
    },
    dismissNewer: () => set({ newer: undefined }),
    typing() {
      const { selected } = state;
      if (selected === undefined || Date.now() - typingToldAt < typingToldMs) return;
      typingToldAt = Date.now();
      // Best effort: nobody misses it.
      api.typing(selected).catch(() => undefined);
    },
    start(hash) {
      follow(hash, { isFirst: true });
      void loadCounts();
      // Of several windows only the one with the connection is told that it stands.
      void loadAgents();
      void loadSavedReplies();
      listen({
        connected() {
          // The server may have started anew.
          void loadAgents();
          void loadSavedReplies();
          if (!state.connected) set({ connected: true });
          refresh(true);
        },
        lost() {
          if (state.connected) set({ connected: false });
          // Where the session has ended, this leads to the sign-in page.
          api.me().catch(() => undefined);
        },
        event(event) {
          const here = event.conversationId === state.selected;
          if (event.kind === "changed") {
            refresh(here);
          } else if (event.kind === "assigned") {
            const { by, conversationId } = event;
            const customer = shortName(event.customer);
            listener.assigned(
              by === null
                ? `The conversation with ${customer} was assigned to you.`
                : `${by} assigned the conversation with ${customer} to you.`,
              conversationId,
            );
          } else if (here) {
            set({ customerTyping: true });
            clearTimeout(typingTimer);
            typingTimer = setTimeout(() => set({ customerTyping: false }), typingShownMs);
          }
        },
      });
    },
  };
}

const seenOf = ({ status, assignee }: ConversationView): { status: string; assignedTo: string | null } => ({
  status,
  assignedTo: assignee?.email ?? null,
});

function nextInList(items: readonly ListItem[], id: string): string | undefined {
  const at = items.findIndex((item) => item.id === id);
  return (items[at + 1] ?? items[at - 1])?.id;
}

/** Only what was sent is gone: who went on typing keeps that. */
function writtenSince(now: string, sent: string): string {
  const text = now.trim();
  if (text === sent) return "";
  const rest = text.startsWith(sent) ? text.slice(sent.length) : text;
  return /^\s/u.test(rest) ? rest.trimStart() : now;
}

/** Between two pages a conversation can move to the top: it is shown once. */
function distinct(items: readonly ListItem[]): ListItem[] {
  return [...new Map(items.map((item) => [item.id, item])).values()];
}
