import type {
  ClientFrame,
  ConversationStatus,
  HelloFrame,
  ReadyFrame,
  RefusalCode,
  ServerFrame,
} from "../../frames.ts";
import type { Identity, Settings } from "../settings.ts";
import type { ChatStorage } from "../storage/chat-storage.ts";
import type { UnsentMessage } from "../storage/stored-values.ts";
import type { ChatStore } from "./chat-store.ts";
import type { Connection, ConnectionStatus } from "./connection.ts";
import { createConnection } from "./connection.ts";
import { newClientId } from "./outbox.ts";

/** The session with the server, which all tabs of a browser share. Puts what the server sends into the store. */
export interface ChatSession {
  connect(): void;
  /** False: there is no connection, and the frame was not sent. */
  send(frame: ClientFrame): boolean;
  sendMessage(message: UnsentMessage): void;
  sendLead(name: string, email: string): void;
  /** Replaces the proof of the same user. */
  identify(next: Pick<Identity, "user_id" | "user_token">): void;
}

const typingShownMs = 8_000;
const sendAgainMs = 4_000;
/** Messages that are fetched at first. The rest comes when the customer scrolls back. */
const newestCount = 40;

export function createSession(
  settings: Settings,
  storage: ChatStorage,
  store: ChatStore,
  ended: AbortSignal,
): ChatSession {
  const { history, outbox, readMark, update } = store;
  let { identity } = settings;
  /** Undefined until the first `ready`. */
  let sessionId: string | undefined;
  let greetedWithToken = false;
  /** Whether the outbox was sent on this connection. */
  let flushed = false;
  let typingTimer: number | undefined;
  let leadId = "";

  const sendMessage = ({ clientId, text, files = [], refersTo, chosen }: UnsentMessage): void => {
    const ids = files.map(({ id }) => id);
    const more = {
      ...(ids.length === 0 ? {} : { files: ids }),
      ...(refersTo === undefined ? {} : { refersTo: refersTo.id }),
      // The page can write anything to the storage.
      ...(chosen === true ? { chosen } : {}),
    };
    connection.send({ kind: "send", clientId, text, ...more });
  };
  const flush = (): void => storage.outbox.read().forEach(sendMessage);

  const hello = (): HelloFrame => {
    const token = storage.token();
    const { conversation, seq } = readMark.position();
    greetedWithToken = token !== undefined;
    return {
      kind: "hello",
      lastSeq: history.lastSeq(),
      newest: newestCount,
      seen: seq,
      page: location.origin + location.pathname,
      ...(token === undefined ? {} : { token }),
      ...(conversation === null ? {} : { conversation }),
      ...(identity === undefined ? {} : { identity }),
    };
  };

  const isReplaced = (id: string): boolean => (storage.session.read()?.session ?? id) !== id;

  const ready = (frame: ReadyFrame): void => {
    // Another tab began a session at the same time: all tabs use the one that was stored first.
    if (!greetedWithToken && isReplaced(frame.session)) return connection.restart();
    sessionId = frame.session;
    storage.session.write({ token: frame.token, session: sessionId });
    if (frame.verified) outbox.adoptVisitor();
    storage.branding.write(frame.face);
    if (history.start(frame)) outbox.clear();
    readMark.start(frame.conversation);
    update({ status: statusOf(frame), branding: frame.face, older: history.firstSeq() > 1 ? "some" : "none" });
    // `ready` comes again when the conversation begins; messages on their way must not be sent twice.
    if (!flushed) flush();
    flushed = true;
  };

  const refused = (clientId: string, code: RefusalCode): void => {
    if (clientId === leadId) update({ lead: code === "invalid_email" ? "invalid" : "failed" });
    else if (code === "unavailable") setTimeout(flush, sendAgainMs);
    else if (outbox.refuse(clientId, code)) update();
  };

  const receive = (frame: ServerFrame): void => {
    switch (frame.kind) {
      case "ready":
        return ready(frame);
      case "message": {
        const result = history.append(frame);
        if (result === "gap") connection.send({ kind: "resume", lastSeq: history.lastSeq() });
        if (result !== "appended") return;
        outbox.arrived(frame);
        return update(frame.role === "user" ? {} : { typing: undefined });
      }
      case "older":
        if (history.prepend(frame)) update({ older: frame.after > 0 ? "some" : "none" });
        return;
      case "changed":
        if (history.amend(frame.message)) update();
        return;
      case "feedback":
        if (history.setReply(frame.message, { feedback: frame.value })) update();
        return;
      case "reaction": {
        const { message, emoji } = frame;
        if (history.setReply(message, { reaction: emoji === null ? null : { emoji, author: null } })) update();
        return;
      }
      case "rated":
        if (history.setReply(frame.message, { rating: { score: frame.score, commented: frame.commented } })) update();
        return;
      case "standing":
        return update({ status: statusOf(frame) });
      case "ack":
        if (outbox.acknowledge(frame, history.lastSeq())) update();
        return;
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
  };

  const connectionChanged = (status: ConnectionStatus): void => {
    if (status === "expired") document.dispatchEvent(new CustomEvent("parley:expired"));
    if (status === "online") return update({ connection: status });
    flushed = false;
    const { older } = store.state();
    update({ connection: status, typing: undefined, older: older === "loading" ? "some" : older });
  };

  const connection: Connection = createConnection(settings, storage.overHttp, {
    hello,
    badToken: storage.removeSessions,
    status: connectionChanged,
    frame: receive,
    ended,
  });

  storage.watch(ended, (name) => {
    // Another tab signed in or out, or was first: all tabs show the same thread.
    if (name === "session" && sessionId !== undefined && isReplaced(sessionId)) connection.restart();
    else if (name === "outbox" || (name === "seen" && readMark.reload())) update();
  });

  return {
    connect: connection.open,
    send: connection.send,
    sendMessage,
    sendLead(name, email) {
      leadId = newClientId();
      const sent = connection.send({ kind: "lead", clientId: leadId, name, email });
      update({ lead: sent ? "saving" : "failed" });
    },
    identify(next) {
      if (next.user_token === identity?.user_token) return;
      identity = { ...identity, ...next };
      const { connection: status } = store.state();
      if (status === "expired") connection.open();
      // The connection that is being made may have been greeted with the expired token.
      else if (status === "connecting" || status === "reconnecting") connection.restart();
    },
  };
}

const statusOf = ({ handledBy, agentName, hasEmail }: ConversationStatus): ConversationStatus => ({
  handledBy,
  agentName,
  hasEmail,
});
