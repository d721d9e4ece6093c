import type { AckFrame, MessageFrame, RefusalCode } from "../../frames.ts";
import type { ChatStorage, Stored } from "../storage/chat-storage.ts";
import type { MessageExtras, UnsentMessage } from "../storage/stored-values.ts";
import type { ChatMessage, RefusedMessage } from "./chat-message.ts";
import { ownMessage, refusedMessage } from "./chat-message.ts";

/** The customer's messages that are not in the history yet: pending, refused, or acknowledged. */
export interface Outbox {
  /** In the order they were written. `historyKeys`: messages that the history shows already. */
  messages(historyKeys: ReadonlySet<string>): readonly ChatMessage[];
  /** Returns the message to send; `too_long`: it is shown as refused; undefined: it is empty, or too many are pending. */
  add(text: string, extras: MessageExtras): UnsentMessage | "too_long" | undefined;
  /** Returns the message to send; or the text of one whose files are gone, which must be attached again. */
  retry(key: string): UnsentMessage | string | undefined;
  /** `lastSeq`: of the history. False: the message is not in the outbox. */
  acknowledge(ack: AckFrame, lastSeq: number): boolean;
  /** False: the message is not in the outbox. */
  refuse(clientId: string, code: RefusalCode): boolean;
  /** Called for each message that enters the history. */
  arrived(frame: MessageFrame): void;
  /** Forgets acknowledged messages. Called when the history was dropped and comes again. */
  clear(): void;
  /** Called when a visitor has signed in. */
  adoptVisitor(): void;
}

const codePointsMax = 4_000;
/** More messages waiting for a connection mean that the page misbehaves. */
const pendingMax = 50;

export function createOutbox(storage: ChatStorage): Outbox {
  const refused = new Map<string, RefusedMessage>();
  /** Stored by the server, and not yet in the history here. */
  const acknowledged = new Map<string, ChatMessage>();

  const addRefused = (unsent: UnsentMessage): void =>
    void refused.set(unsent.clientId, refusedMessage(unsent, unsent.filesGone === true ? "files_gone" : "limited"));
  storage.refused.read().forEach(addRefused);

  const pending = (clientId: string): UnsentMessage | undefined =>
    storage.outbox.read().find((each) => each.clientId === clientId);
  const removeRefused = (clientId: string): void => {
    if (refused.delete(clientId)) remove(storage.refused, clientId);
  };

  return {
    messages(historyKeys) {
      const waiting = storage.outbox
        .read()
        .filter(({ clientId: key }) => !historyKeys.has(key) && !refused.has(key) && !acknowledged.has(key))
        .map((unsent) => ownMessage(unsent, "pending"));
      return [...refused.values(), ...acknowledged.values(), ...waiting].toSorted((a, b) => a.createdAt - b.createdAt);
    },
    add(text, { files = [], ...extras }) {
      const more = { ...(files.length === 0 ? {} : { files }), ...extras };
      const unsent = { clientId: newClientId(), text, ...more, at: Date.now() };
      const others = storage.outbox.read();
      if ((text.trim() === "" && files.length === 0) || others.length >= pendingMax) return undefined;
      if ([...text].length > codePointsMax) {
        refused.set(unsent.clientId, refusedMessage(unsent, "too_long"));
        return "too_long";
      }
      storage.outbox.write([...others, unsent]);
      return unsent;
    },
    retry(key) {
      const message = refused.get(key);
      if (message === undefined) return undefined;
      removeRefused(key);
      if (message.refusal === "files_gone") return message.unsent.text;
      storage.outbox.write([...storage.outbox.read(), message.unsent]);
      return message.unsent;
    },
    acknowledge({ clientId, seq, id }, lastSeq) {
      const unsent = pending(clientId);
      if (unsent === undefined) return false;
      remove(storage.outbox, clientId);
      if (seq === null || seq > lastSeq) acknowledged.set(clientId, { ...ownMessage(unsent, "sent"), seq, id });
      return true;
    },
    refuse(clientId, code) {
      const unsent = pending(clientId);
      if (unsent === undefined) return false;
      refused.set(clientId, refusedMessage(unsent, code));
      const filesGone = code === "files_gone";
      if (filesGone || code === "limited") storage.refused.write([...storage.refused.read(), { ...unsent, filesGone }]);
      remove(storage.outbox, clientId);
      return true;
    },
    arrived({ clientId, seq }) {
      if (clientId !== undefined) {
        remove(storage.outbox, clientId);
        removeRefused(clientId);
      }
      for (const [key, message] of acknowledged) if (key === clientId || message.seq === seq) acknowledged.delete(key);
    },
    clear: () => acknowledged.clear(),
    adoptVisitor: () => storage.adoptVisitor().forEach(addRefused),
  };
}

const remove = (list: Stored<readonly UnsentMessage[]>, clientId: string): void =>
  list.write(list.read().filter((each) => each.clientId !== clientId));

/** 128 random bits. `crypto.randomUUID` exists on https pages only. */
export const newClientId = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
