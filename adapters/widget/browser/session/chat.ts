import type { Score } from "#domain/conversation/message.ts";
import type { AgentReactionSign } from "#domain/conversation/reaction.ts";
import type { Branding, UploadedFile } from "../../frames.ts";
import type { Settings } from "../settings.ts";
import { createChatStorage } from "../storage/chat-storage.ts";
import type { MessageExtras } from "../storage/stored-values.ts";
import type { ChatState } from "./chat-state.ts";
import { createChatStore } from "./chat-store.ts";
import type { ChatSession } from "./session.ts";
import { createSession } from "./session.ts";
import { UploadRefused, uploadFile } from "./upload.ts";

/** The actions of the customer and the page. */
export interface Chat extends Pick<ChatSession, "connect" | "identify" | "sendLead"> {
  state(): ChatState;
  /** Whether there is a conversation to continue, or something to send. */
  isUsed(): boolean;
  /** False: it is empty, or too many messages wait for a connection. */
  submit(text: string, extras?: MessageExtras): boolean;
  /** Uploads a file for a later message. Rejects with {@link UploadRefused}. */
  upload(file: File, signal: AbortSignal, progress: (share: number) => void): Promise<UploadedFile>;
  /** Sends a refused message again. Where its files are gone, returns its text, to be sent with new files. */
  retry(key: string): string | undefined;
  /** Fetches the messages before the first one. */
  loadOlder(): void;
  sendTyping(): void;
  /** Sends the opinion of an answer; it is shown once it is stored. */
  judge(message: string, value: "up" | "down" | null): void;
  /** Sends the rating of the conversation, or a comment on it. */
  rate(message: string, score: Score, comment?: string): void;
  /** Sends the reaction to a message, which is shown once it is stored; null takes it back. */
  react(message: string, emoji: AgentReactionSign | null): void;
  dismissLead(): void;
  /** Sets the branding that was fetched without a connection. */
  setBranding(branding: Branding): void;
  /** Called when everything received is on the screen. */
  markSeen(): void;
}

const typingSentEveryMs = 2_500;
const tokenTimeoutMs = 15_000;
const tokenPollMs = 100;

/** The conversation as this tab knows it, until `ended` aborts. `changed` is called after every change. */
export function createChat(settings: Settings, ended: AbortSignal, changed: () => void): Chat {
  const storage = createChatStorage(settings);
  const store = createChatStore(storage, settings.base, changed);
  const { history, outbox, readMark, state, update } = store;
  const session = createSession(settings, storage, store, ended);
  let typingSentAt = 0;

  /** Connects, and waits for the session's token. */
  const currentToken = async (signal: AbortSignal): Promise<string> => {
    session.connect();
    for (let waited = 0; waited < tokenTimeoutMs; waited += tokenPollMs) {
      const token = state().connection === "online" ? storage.session.read()?.token : undefined;
      if (token !== undefined) return token;
      await new Promise((resolve) => setTimeout(resolve, tokenPollMs));
      signal.throwIfAborted();
    }
    throw new UploadRefused("unavailable");
  };

  return {
    ...session,
    state,
    isUsed: storage.isUsed,
    submit(text, extras = {}) {
      const added = outbox.add(text, extras);
      if (added === undefined) return false;
      update();
      if (added === "too_long") return true;
      session.connect();
      session.sendMessage(added);
      return true;
    },
    upload: async (file, signal, progress) => uploadFile(settings, await currentToken(signal), file, signal, progress),
    retry(key) {
      const message = outbox.retry(key);
      if (message === undefined) return undefined;
      update();
      if (typeof message === "string") return message;
      session.sendMessage(message);
      return undefined;
    },
    loadOlder() {
      if (state().older !== "some" || state().connection !== "online") return;
      if (session.send({ kind: "older", before: history.firstSeq() })) update({ older: "loading" });
    },
    sendTyping() {
      const now = Date.now();
      if (now - typingSentAt < typingSentEveryMs) return;
      typingSentAt = now;
      session.send({ kind: "typing" });
    },
    judge: (message, value) => void session.send({ kind: "feedback", message, value }),
    rate: (message, score, comment) =>
      void session.send({ kind: "rating", message, score, ...(comment === undefined ? {} : { comment }) }),
    react: (message, emoji) => void session.send({ kind: "reaction", message, emoji }),
    dismissLead() {
      storage.lead.write("dismissed");
      update({ lead: "none" });
    },
    setBranding(branding) {
      storage.branding.write(branding);
      update({ branding });
    },
    markSeen() {
      const seq = history.lastSeq();
      if (!readMark.advance(seq)) return;
      // The customer's own messages need no read receipts.
      if (state().unread > 0) session.send({ kind: "seen", seq });
      update();
    },
  };
}
