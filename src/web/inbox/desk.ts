import type {
  Colleague,
  ConversationView,
  Counts,
  ListItem,
  Me,
  MessageView,
  Person,
  SavedReply,
  View,
} from "../../http/inbox/wire.ts";
import { views } from "../../http/inbox/wire.ts";
import type { Action } from "./api.ts";
import { api, listen, Refused } from "./api.ts";
import type { Drafts } from "./drafts.ts";
import { newClientId } from "./drafts.ts";
import { setServerTime } from "./time.ts";
import { shortName } from "./words.ts";

/** What the inbox shows. Panes draw it; only {@link Desk} changes it. */
export interface DeskState {
  readonly me: Me;
  readonly savedReplies: readonly SavedReply[];
  /** All agents of the workspace; empty until they are known. */
  readonly agents: readonly Colleague[];
  readonly view: View;
  readonly query: string;
  readonly items: readonly ListItem[];
  readonly nextCursor: string | null;
  readonly list: "loading" | "ready" | "failed";
  readonly counts: Counts | undefined;
  readonly selected: string | undefined;
  readonly conversation: ConversationView | undefined;
  /** Messages before those of `conversation`, fetched on demand. */
  readonly earlier: readonly MessageView[];
  readonly hasEarlier: boolean;
  readonly failure: string | undefined;
  readonly customerTyping: boolean;
  readonly connected: boolean;
  /** What a reply was held back for. */
  readonly newer: readonly MessageView[] | undefined;
  readonly busy: boolean;
}

export interface Desk {
  state(): DeskState;
  /** Shows what the address names: `#/<view>/<conversation>`. */
  follow(hash: string): void;
  search(query: string): void;
  more(): Promise<void>;
  /** Fetches the list and the open conversation anew. */
  refresh(): void;
  earlier(): Promise<void>;
  act(action: Action, body?: object): Promise<boolean>;
  change(body: object): Promise<boolean>;
  /** Gives a conversation to an agent, or (null) to nobody, if it still stands as it did when that was offered. */
  assign(to: string | null, offered: ConversationView): Promise<boolean>;
  /** Asks again who works here. */
  loadAgents(): Promise<void>;
  /** Sends what is in the composer; false when it did not go, and stays there. */
  send(how?: { readonly force?: boolean; readonly anyway?: boolean }): Promise<boolean>;
  /** Changes a reply, or (null) takes it back. `was`: the text that was to be changed. */
  amend(messageId: string, content: string | null, was?: string): Promise<boolean>;
  dismissNewer(): void;
  typing(): void;
  start(): void;
}

export interface DeskListener {
  changed(): void;
  /** Something to tell in passing. */
  notice(text: string, kind: "done" | "problem"): void;
  /** Something was done: what went wrong before is over. */
  settled(): void;
  /** Messages that came in while the conversation was open. */
  arrived(messages: readonly MessageView[], conversation: ConversationView): void;
  /** Something may have changed anywhere. */
  stirred(): void;
  claimedByOther(name: string): void;
  /** Somebody gave a conversation to the agent who sits here. */
  assigned(text: string, conversationId: string): void;
  /** A reply was held back because a colleague has the conversation. */
  heldByOther(name: string): void;
}

const refreshDelayMs = 120;
/** In a large team something changes all the time. */
export const listEveryMs = (): number => (document.visibilityState === "visible" ? 1_000 : 10_000);
const typingShownMs = 6_000;
const typingToldMs = 3_000;
const deliveryPollMs = 2_500;
const searchDelayMs = 250;

const doneTexts = {
  claim: "The conversation is yours.",
  release: "Released: the assistant answers again from the next message.",
  resolve: "Resolved.",
  archive: "Archived.",
  reopen: "Open again.",
  snooze: "Snoozed.",
} as const;
const doneTextOf = (action: Action): string | undefined =>
  action in doneTexts ? doneTexts[action as keyof typeof doneTexts] : undefined;

export const hashOf = (view: View, id?: string): string => (id === undefined ? `#/${view}` : `#/${view}/${id}`);

export function createDesk(me: Me, drafts: Drafts, listener: DeskListener): Desk {
  let state: DeskState = {
    me,
    agents: [],
    savedReplies: [],
    view: "unassigned",
    query: "",
    items: [],
    nextCursor: null,
    list: "loading",
    counts: undefined,
    selected: undefined,
    conversation: undefined,
    earlier: [],
    hasEarlier: false,
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

  const set = (change: Partial<DeskState>): void => {
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
    const { view, query } = state;
    try {
      const items: ListItem[] = [];
      let cursor: string | undefined;
      let nextCursor: string | null = null;
      for (let page = 0; page < pages; page += 1) {
        const got = await api.list(view, query, cursor);
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
    try {
      show(await api.conversation(selected));
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
    const first = conversation.messages[0]?.seq ?? 0;
    // A long thread has moved on: what was the page is now before it.
    const earlier =
      known === undefined ? [] : [...state.earlier, ...(before?.messages ?? [])].filter(({ seq }) => seq < first);
    const keepsEarlier = state.earlier.length > 0;
    set({
      conversation,
      failure: undefined,
      earlier: keepsEarlier ? earlier : [],
      hasEarlier: keepsEarlier ? state.hasEarlier : conversation.hasEarlier,
      ...(known !== undefined && conversation.lastSeq > known ? { customerTyping: false } : {}),
    });
    if (known !== undefined) {
      const arrived = conversation.messages.filter(({ seq }) => seq > known);
      if (arrived.length > 0) listener.arrived(arrived, conversation);
    }
    clearTimeout(pollTimer);
    const isUnderWay = ({ delivery, changing }: MessageView): boolean =>
      changing !== null || delivery?.state === "queued" || delivery?.state === "sending";
    if (conversation.messages.some(isUnderWay)) {
      pollTimer = setTimeout(() => {
        if (document.visibilityState === "visible") void loadConversation();
      }, deliveryPollMs);
    }
  }

  /** The open conversation at once, the list as often as {@link listEveryMs} says. */
  function refresh(withConversation: boolean): void {
    listener.stirred();
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

  return {
    state: () => state,
    follow(hash) {
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
              earlier: [],
              hasEarlier: false,
              failure: undefined,
              customerTyping: false,
              newer: undefined,
            }
          : {}),
      });
      if (viewChanged) void loadList();
      if (idChanged) void loadConversation();
    },
    search(query) {
      clearTimeout(searchTimer);
      searchTimer = setTimeout(() => {
        if (query === state.query) return;
        pages = 1;
        set({ query, items: [], nextCursor: null, list: "loading" });
        void loadList();
      }, searchDelayMs);
    },
    refresh: () => refresh(true),
    async more() {
      const { nextCursor, view, query } = state;
      if (nextCursor === null || state.list === "failed") return loadList();
      const run = listRun;
      try {
        const got = await api.list(view, query, nextCursor);
        pages += 1;
        // Where the list was fetched anew meanwhile, this is no page of it.
        if (run !== listRun) return await loadList();
        set({ items: distinct([...state.items, ...got.items]), nextCursor: got.nextCursor });
      } catch (error) {
        report(error);
      }
    },
    async earlier() {
      const { conversation } = state;
      const first = state.earlier[0] ?? conversation?.messages[0];
      if (conversation === undefined || first === undefined) return;
      try {
        const got = await api.earlier(conversation.id, first.seq);
        if (state.selected === conversation.id)
          set({ earlier: [...got.messages, ...state.earlier], hasEarlier: got.hasEarlier });
      } catch (error) {
        report(error);
      }
    },
    async act(action, body) {
      const id = state.selected;
      if (id === undefined) return false;
      // A claim and a reply look by themselves at who has it; of all else the newest word must be known.
      const looksItself = action === "claim" || action === "reply" || action === "notes";
      const seen = looksItself || state.conversation === undefined ? {} : { seen: seenOf(state.conversation) };
      const done = await during(() => api.act(id, action, { ...seen, ...body }));
      const text = doneTextOf(action);
      if (done && text !== undefined) listener.notice(text, "done");
      return done;
    },
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
        const waits = state.conversation?.messages.some(
          (message) => message.id === messageId && message.changing !== null,
        );
        const what = content === null ? "deleted" : "changed";
        listener.notice(waits === true ? `Your reply is being ${what}.` : `Your reply was ${what}.`, "done");
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
    start() {
      void loadList();
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
