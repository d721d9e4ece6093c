import type { Block } from "#channels/text/markdown.ts";
import type {
  Face,
  FileFrame,
  MessageFrame,
  ReadyFrame,
  RefusalCode,
  ServerFrame,
  Standing,
  UploadedFile,
} from "../frames.ts";
import type { Connection, Status } from "./connection.ts";
import { createConnection, socketUrl } from "./connection.ts";
import type { Remembered, Waiting } from "./kept.ts";
import { faceOf, isRemembered, seenOf, waitingOf } from "./kept.ts";
import type { Identity, Settings } from "./settings.ts";
import { createKeep } from "./storage.ts";
import { UploadRefused, post } from "./upload.ts";

export interface Item {
  /** The same from the moment it was written until it is history. */
  readonly key: string;
  /** Null until the server has numbered it. */
  readonly seq: number | null;
  readonly role: "user" | "assistant" | "agent";
  readonly author: string | null;
  readonly createdAt: number;
  readonly content: readonly Block[];
  readonly sources: MessageFrame["sources"];
  readonly files: readonly FileFrame[];
  readonly uncertain: boolean;
  readonly state: "sent" | "pending" | "failed";
  /** Other after each change of what was shown before. */
  readonly revision: number;
  readonly deleted: boolean;
  readonly why?: RefusalCode;
}

export interface ChatState {
  readonly status: Status;
  readonly face: Face | undefined;
  readonly standing: Standing;
  /** History in order, then what was not accepted yet. */
  readonly items: readonly Item[];
  /** The history is still coming in. */
  readonly replaying: boolean;
  /** Whether there is history before the first item. */
  readonly older: "none" | "some" | "loading";
  readonly typing: { readonly role: "assistant" | "agent"; readonly name: string | null } | undefined;
  readonly unread: number;
  readonly lead: "ask" | "saving" | "saved" | "invalid" | "failed" | "none";
}

export interface Chat {
  state(): ChatState;
  connect(): void;
  /** A newer proof of the same user. */
  identify(next: Pick<Identity, "user_id" | "user_token">): void;
  /** Whether there is a conversation to come back to. */
  known(): boolean;
  /** False: so much waits already that it is not taken. */
  submit(text: string, files?: readonly UploadedFile[]): boolean;
  /** Sends a file as it is read, for a message to come. Rejects with {@link UploadRefused}. */
  upload(file: File, signal: AbortSignal, progress: (share: number) => void): Promise<UploadedFile>;
  /** Sends it again. Where its files are gone, returns its text, to be sent with new ones. */
  retry(key: string): string | undefined;
  /** Fetches what comes before the first item. */
  older(): void;
  typing(): void;
  lead(name: string, email: string): void;
  dismissLead(): void;
  /** What the workspace shows of itself, before there is a connection. */
  introduce(face: Face): void;
  /** Tells that everything received is on the screen. */
  seen(): void;
}

const typingShownMs = 8_000;
const typingSentEveryMs = 2_500;
const sendAgainMs = 4_000;
const sessionPatienceMs = 15_000;
const messageCodePointsMax = 4_000;
/** What is fetched of a history at first; the rest comes when the customer scrolls back. */
const newestCount = 40;
/** As many of our own messages as wait for a connection; more is a page gone wrong. */
const waitingMax = 50;

/** The conversation as this tab knows it. `changed` is called after every change. */
export function createChat(settings: Settings, changed: () => void): Chat {
  const prefix = `parley:${settings.workspace}:${settings.channel}:`;
  const shared = createKeep(prefix, "localStorage");
  let { identity } = settings;
  const user = identity?.user_id ?? "";
  /** A signed-in user's things are kept apart from a visitor's and from another user's. */
  const own = createKeep(`${prefix}${user}:`, "localStorage");
  /** The visitor's things, while somebody is signed in. */
  const visitor = user === "" ? undefined : createKeep(`${prefix}:`, "localStorage");

  const bySeq = new Map<number, Item>();
  const failed = new Map<string, Failed>();
  /** Stored by the server, and not yet come back as history. */
  const acked = new Map<string, Item>();
  let conversation: string | null = null;
  let lastSeq = 0;
  /** The history is here from this number on. */
  let firstSeq = 1;
  let target = 0;
  let seen = seenOf(own.read("seen"));
  let asked = -1;
  let session: string | undefined;
  let greetedWithToken = false;
  let flushed = false;
  let typingTimer: number | undefined;
  let typingSentAt = 0;
  let leadId = "";
  let state: ChatState = {
    status: "idle",
    face: faceOf(shared.read("face")),
    standing: { handledBy: "assistant", agentName: null, hasEmail: false },
    items: [],
    replaying: false,
    older: "none",
    typing: undefined,
    unread: 0,
    lead: "none",
  };

  const remembered = (): Remembered | undefined => {
    const value = own.read("session") ?? visitor?.read("session");
    return isRemembered(value) ? value : undefined;
  };
  const outbox = (): readonly Waiting[] => waitingOf(own.read("outbox"));
  const keepOutbox = (waiting: readonly Waiting[]): void =>
    own.write("outbox", waiting.length === 0 ? undefined : waiting);
  /** Refused, and can be sent again, also on the next page. */
  const refusedBefore = (): readonly Waiting[] => waitingOf(own.read("refused"));
  const keepRefused = (change: (all: readonly Waiting[]) => readonly Waiting[]): void => {
    const all = change(refusedBefore());
    own.write("refused", all.length === 0 ? undefined : all.slice(-waitingMax));
  };
  const keepFailed = (waiting: Waiting): void =>
    void failed.set(waiting.clientId, failedOf(waiting, waiting.filesGone === true ? "files_gone" : "limited"));
  refusedBefore().forEach(keepFailed);
  const removeWaiting = (clientId: string): void => keepOutbox(outbox().filter((each) => each.clientId !== clientId));

  const update = (change: Partial<ChatState>): void => {
    state = { ...state, ...change };
    const history = [...bySeq.values()].toSorted((a, b) => (a.seq ?? 0) - (b.seq ?? 0));
    const stored = new Set(history.map((item) => item.key));
    const shown = history.filter(({ deleted }) => !deleted);
    const pending = outbox()
      .filter(({ clientId }) => !stored.has(clientId) && !failed.has(clientId) && !acked.has(clientId))
      .map((each) => itemOf(each, "pending"));
    state = {
      ...state,
      items: [
        ...shown,
        ...[...failed.values(), ...acked.values(), ...pending].toSorted((a, b) => a.createdAt - b.createdAt),
      ],
      replaying: lastSeq < target,
      unread: shown.filter((item) => item.role !== "user" && (item.seq ?? 0) > seen.seq).length,
    };
    changed();
  };

  const flush = (): void => {
    for (const waiting of outbox()) send(waiting);
  };
  const send = ({ clientId, text, files = [] }: Waiting): void => {
    const ids = files.map(({ id }) => id);
    connection.send({ kind: "send", clientId, text, ...(ids.length === 0 ? {} : { files: ids }) });
  };
  /** The session's token, as soon as there is one. */
  const currentToken = async (signal: AbortSignal): Promise<string> => {
    connection.open();
    for (let waited = 0; waited < sessionPatienceMs; waited += 100) {
      const known = state.status === "online" ? own.read("session") : undefined;
      if (isRemembered(known)) return known.token;
      await new Promise((resolve) => setTimeout(resolve, 100));
      signal.throwIfAborted();
    }
    throw new UploadRefused("unavailable");
  };

  const ready = (frame: ReadyFrame): void => {
    const stored = own.read("session");
    if (!greetedWithToken && isRemembered(stored) && stored.session !== frame.session) {
      // Another tab began a session in the same moment: the one that was stored first is everybody's.
      connection.restart();
      return;
    }
    session = frame.session;
    own.write("session", { token: frame.token, session: frame.session } satisfies Remembered);
    if (visitor !== undefined && frame.verified) {
      // A visitor who signed in: what was the visitor's is the user's now. What was not acknowledged too, under the same
      // id: whoever uses this browser next would otherwise see it, and send it again.
      keepOutbox([...waitingOf(visitor.read("outbox")), ...outbox()]);
      visitor.write("outbox", undefined);
      waitingOf(visitor.read("refused")).forEach(keepFailed);
      keepRefused((all) => [...waitingOf(visitor.read("refused")), ...all]);
      visitor.write("refused", undefined);
      visitor.write("session", undefined);
    }
    shared.write("face", frame.face);
    if (frame.after < lastSeq || (conversation !== null && frame.conversation !== conversation)) {
      bySeq.clear();
      acked.clear();
      lastSeq = frame.after;
      firstSeq = frame.after + 1;
    } else if (frame.after > lastSeq) {
      lastSeq = frame.after;
      firstSeq = frame.after + 1;
    }
    conversation = frame.conversation;
    if (seen.conversation !== conversation) seen = { conversation, seq: 0 };
    target = frame.lastSeq;
    asked = -1;
    const older = firstSeq > 1 ? "some" : "none";
    update({ face: frame.face, standing: standingOf(frame), lead: leadAfter(frame, frame.face), older });
    // It comes again when the conversation begins; what is on its way then need not be sent twice.
    if (!flushed) flush();
    flushed = true;
  };

  const message = (frame: MessageFrame): void => {
    if (frame.seq <= lastSeq) return;
    if (frame.prev > lastSeq) {
      // Something between was missed: ask for it once, and take this one when it comes again.
      if (asked !== lastSeq) connection.send({ kind: "resume", lastSeq });
      asked = lastSeq;
      return;
    }
    lastSeq = frame.seq;
    if (frame.clientId !== undefined) {
      const { clientId } = frame;
      removeWaiting(clientId);
      if (failed.delete(clientId)) keepRefused((all) => all.filter((each) => each.clientId !== clientId));
    }
    for (const [key, item] of acked) if (key === frame.clientId || item.seq === frame.seq) acked.delete(key);
    bySeq.set(frame.seq, sentItem(frame, settings.base));
    update(frame.role === "user" ? {} : { typing: undefined });
  };

  const amend = (frame: MessageFrame): void => {
    const known = bySeq.get(frame.seq);
    if (known === undefined) return;
    const item = sentItem(frame, settings.base);
    if (item.deleted === known.deleted && JSON.stringify(item.content) === JSON.stringify(known.content)) return;
    bySeq.set(frame.seq, { ...item, key: known.key, revision: known.revision + 1 });
    update({});
  };

  const older = (before: number, after: number, messages: readonly MessageFrame[]): void => {
    // Of a history that has begun anew meanwhile.
    if (before !== firstSeq) return;
    for (const each of messages) bySeq.set(each.seq, sentItem(each, settings.base));
    firstSeq = after + 1;
    update({ older: after > 0 ? "some" : "none" });
  };

  const accepted = (clientId: string, seq: number | null): void => {
    const waiting = outbox().find((each) => each.clientId === clientId);
    if (waiting === undefined) return;
    removeWaiting(clientId);
    const known = seq !== null && seq <= lastSeq;
    if (!known) acked.set(clientId, { ...itemOf(waiting, "sent"), seq });
    update({});
  };

  const refused = (clientId: string, code: RefusalCode): void => {
    if (clientId === leadId) return update({ lead: code === "invalid_email" ? "invalid" : "failed" });
    if (code === "unavailable") {
      // Kept, and sent again under the same id.
      setTimeout(flush, sendAgainMs);
      return;
    }
    const waiting = outbox().find((each) => each.clientId === clientId);
    if (waiting === undefined) return;
    failed.set(clientId, failedOf(waiting, code));
    const filesGone = code === "files_gone";
    if (filesGone || code === "limited") keepRefused((all) => [...all, { ...waiting, filesGone }]);
    removeWaiting(clientId);
    update({});
  };

  const leadAfter = (standing: Standing, face: Face | undefined): ChatState["lead"] => {
    if (state.lead === "saved" || state.lead === "saving" || own.read("lead") === "dismissed") {
      return own.read("lead") === "dismissed" ? "none" : state.lead;
    }
    const wanted = face?.leadCapture === "on_handover" && isForPeople(standing) && !standing.hasEmail;
    if (!wanted) return "none";
    return state.lead === "none" ? "ask" : state.lead;
  };

  const connection: Connection = createConnection(socketUrl(settings), {
    hello() {
      const token = remembered()?.token;
      greetedWithToken = token !== undefined;
      return {
        kind: "hello",
        lastSeq,
        newest: newestCount,
        seen: seen.seq,
        page: location.origin + location.pathname,
        ...(token === undefined ? {} : { token }),
        ...(seen.conversation === null ? {} : { conversation: seen.conversation }),
        ...(identity === undefined ? {} : { identity }),
      };
    },
    badToken() {
      own.write("session", undefined);
      visitor?.write("session", undefined);
    },
    status(status) {
      if (status !== "online") flushed = false;
      const asking = state.older === "loading" ? "some" : state.older;
      if (status === "expired") document.dispatchEvent(new CustomEvent("parley:expired"));
      update(status === "online" ? { status } : { status, typing: undefined, older: asking });
    },
    frame(frame: ServerFrame) {
      switch (frame.kind) {
        case "ready":
          return ready(frame);
        case "message":
          return message(frame);
        case "older":
          return older(frame.before, frame.after, frame.messages);
        case "changed":
          return amend(frame.message);
        case "standing":
          return update({ standing: standingOf(frame), lead: leadAfter(frame, state.face) });
        case "ack":
          return accepted(frame.clientId, frame.seq);
        case "nack":
          return refused(frame.clientId, frame.code);
        case "typing":
          clearTimeout(typingTimer);
          typingTimer = window.setTimeout(() => update({ typing: undefined }), typingShownMs);
          return update({ typing: { role: frame.role, name: frame.name } });
        case "lead_saved":
          return update({ lead: "saved" });
        case "error":
          console.warn(`[parley] ${frame.code}: ${frame.detail}`);
          return;
        case "pong":
          return;
      }
    },
  });

  own.watch((name) => {
    const stored = own.read("session");
    if (name === "session" && session !== undefined && isRemembered(stored) && stored.session !== session) {
      // Another tab signed in or out, or was first: all tabs show the same thread.
      connection.restart();
    } else if (name === "outbox") {
      update({});
    } else if (name === "seen") {
      const elsewhere = seenOf(own.read("seen"));
      if (elsewhere.conversation !== seen.conversation || elsewhere.seq <= seen.seq) return;
      seen = elsewhere;
      update({});
    }
  });

  return {
    state: () => state,
    connect: () => connection.open(),
    identify(next) {
      identity = { ...identity, ...next };
      if (state.status === "expired") connection.open();
    },
    known: () => remembered() !== undefined || outbox().length > 0 || waitingOf(visitor?.read("outbox")).length > 0,
    submit(text, files = []) {
      const waiting: Waiting = {
        clientId: newClientId(),
        text,
        ...(files.length === 0 ? {} : { files }),
        at: Date.now(),
      };
      const others = outbox();
      if ((text.trim() === "" && files.length === 0) || others.length >= waitingMax) return false;
      if ([...text].length > messageCodePointsMax) {
        failed.set(waiting.clientId, failedOf(waiting, "too_long"));
        update({});
        return true;
      }
      keepOutbox([...others, waiting]);
      update({});
      connection.open();
      send(waiting);
      return true;
    },
    async upload(file, signal, progress) {
      const url = new URL("widget/files", settings.base);
      const { workspace, channel } = settings;
      url.search = new URLSearchParams({ workspace, channel, name: file.name, type: file.type }).toString();
      return post(url.href, await currentToken(signal), file, signal, progress);
    },
    retry(key) {
      const item = failed.get(key);
      if (item === undefined) return undefined;
      failed.delete(key);
      keepRefused((all) => all.filter(({ clientId }) => clientId !== key));
      const isGone = item.why === "files_gone";
      if (!isGone) keepOutbox([...outbox(), item.waiting]);
      update({});
      if (isGone) return item.waiting.text;
      send(item.waiting);
      return undefined;
    },
    older() {
      if (state.older !== "some" || state.status !== "online") return;
      if (connection.send({ kind: "older", before: firstSeq })) update({ older: "loading" });
    },
    typing() {
      const now = Date.now();
      if (now - typingSentAt < typingSentEveryMs) return;
      typingSentAt = now;
      connection.send({ kind: "typing" });
    },
    lead(name, email) {
      leadId = newClientId();
      const sent = connection.send({ kind: "lead", clientId: leadId, name, email });
      update({ lead: sent ? "saving" : "failed" });
    },
    dismissLead() {
      own.write("lead", "dismissed");
      update({ lead: "none" });
    },
    introduce(face) {
      shared.write("face", face);
      update({ face });
    },
    seen() {
      if (lastSeq <= seen.seq) return;
      seen = { conversation, seq: lastSeq };
      own.write("seen", seen);
      // Of the customer's own messages nobody waits to hear that they were read.
      if (state.unread > 0) connection.send({ kind: "seen", seq: lastSeq });
      update({});
    },
  };
}

/** Refused, and not sent again before the customer says so. */
interface Failed extends Item {
  readonly waiting: Waiting;
}

const failedOf = (waiting: Waiting, why: RefusalCode): Failed => ({ ...itemOf(waiting, "failed"), why, waiting });

function itemOf(waiting: Waiting, state: Item["state"]): Item {
  return {
    key: waiting.clientId,
    seq: null,
    role: "user",
    author: null,
    createdAt: waiting.at,
    content: waiting.text === "" ? [] : [{ t: "p", c: [waiting.text] }],
    sources: [],
    files: (waiting.files ?? []).map(({ name, bytes }) => ({ name, bytes, url: null, preview: false })),
    uncertain: false,
    state,
    revision: 0,
    deleted: false,
  };
}

function sentItem(frame: MessageFrame, base: URL): Item {
  return {
    key: frame.clientId ?? frame.id,
    seq: frame.seq,
    role: frame.role,
    author: frame.author,
    createdAt: frame.createdAt,
    content: frame.content,
    sources: frame.sources,
    files: (frame.files ?? []).map((file) => ({
      ...file,
      url: file.url === null ? null : new URL(file.url, base).href,
    })),
    uncertain: frame.uncertain === true,
    state: "sent",
    revision: 0,
    deleted: frame.deleted === true,
  };
}

const isForPeople = ({ handledBy }: Standing): boolean => handledBy === "waiting" || handledBy === "agent";

/** 128 random bits; `randomUUID` exists on https pages alone. */
function newClientId(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function standingOf({ handledBy, agentName, hasEmail }: Standing): Standing {
  return { handledBy, agentName, hasEmail };
}
