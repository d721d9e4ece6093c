import type { Branding } from "../../frames.ts";
import type { Settings } from "../settings.ts";
import type { BrowserStorage } from "./browser-storage.ts";
import { createBrowserStorage } from "./browser-storage.ts";
import type { ReadPosition, StoredSession, UnsentMessage } from "./stored-values.ts";
import { brandingFrom, readPositionFrom, sessionFrom, unsentFrom } from "./stored-values.ts";

/** The values that all tabs of a browser share about one chat. A signed-in user's values are apart from those of all others. */
export interface ChatStorage {
  readonly session: Stored<StoredSession | undefined>;
  /** Messages that the server has not acknowledged. */
  readonly outbox: Stored<readonly UnsentMessage[]>;
  /** Messages that the server refused, and that can be sent again. */
  readonly refused: Stored<readonly UnsentMessage[]>;
  readonly seen: Stored<ReadPosition>;
  readonly lead: Stored<unknown>;
  readonly branding: Stored<Branding | undefined>;
  /** Whether this tab has found that WebSockets do not get through. */
  readonly overHttp: Stored<boolean>;
  /** The token of the session, or of the visitor who is signing in. */
  token(): string | undefined;
  /** For a token that the server does not accept. */
  removeSessions(): void;
  /**
   * Moves what a visitor had to the signed-in user; the next user of this browser would otherwise see unsent messages, and
   * send them. They keep their ids. Returns the refused messages.
   */
  adoptVisitor(): readonly UnsentMessage[];
  /** Whether there is a conversation to continue, or something to send. */
  isUsed(): boolean;
  /** Calls back when another tab changed a value. */
  watch(ended: AbortSignal, listener: (name: string) => void): void;
}

export interface Stored<Value> {
  read(): Value;
  /** `undefined` removes the value. */
  write(value: Value | undefined): void;
}

/** Bounds the refused messages that are stored. */
const refusedMax = 50;

export function createChatStorage({ workspace, channel, identity }: Settings): ChatStorage {
  const prefix = `parley:${workspace}:${channel}:`;
  const shared = createBrowserStorage(prefix, "localStorage");
  const user = identity?.user_id ?? "";
  const own = createBrowserStorage(`${prefix}${user}:`, "localStorage");
  const visitor = user === "" ? undefined : createBrowserStorage(`${prefix}:`, "localStorage");
  const session = stored(own, "session", sessionFrom);
  const outbox = storedMessages(own, "outbox");
  const refused = storedMessages(own, "refused", refusedMax);
  const visitorOutbox = (): readonly UnsentMessage[] => unsentFrom(visitor?.read("outbox"));
  const token = (): string | undefined => sessionFrom(own.read("session") ?? visitor?.read("session"))?.token;

  return {
    session,
    outbox,
    refused,
    seen: stored(own, "seen", readPositionFrom),
    lead: stored(own, "lead", (value) => value),
    branding: stored(shared, "face", brandingFrom),
    overHttp: stored(createBrowserStorage(prefix, "sessionStorage"), "http", (value) => value === true),
    token,
    removeSessions() {
      session.write(undefined);
      visitor?.write("session", undefined);
    },
    adoptVisitor() {
      if (visitor === undefined) return [];
      const adopted = unsentFrom(visitor.read("refused"));
      outbox.write([...visitorOutbox(), ...outbox.read()]);
      refused.write([...adopted, ...refused.read()]);
      for (const name of ["outbox", "refused", "session"]) visitor.write(name, undefined);
      return adopted;
    },
    isUsed: () => token() !== undefined || [...outbox.read(), ...visitorOutbox()].length > 0,
    watch: own.watch,
  };
}

const stored = <Value>(storage: BrowserStorage, name: string, parse: (value: unknown) => Value): Stored<Value> => ({
  read: () => parse(storage.read(name)),
  write: (value) => storage.write(name, value),
});

/** Keeps the newest `max`. An empty list is removed. */
const storedMessages = (storage: BrowserStorage, name: string, max = Infinity): Stored<readonly UnsentMessage[]> => ({
  ...stored(storage, name, unsentFrom),
  write: (messages = []) => storage.write(name, messages.length === 0 ? undefined : messages.slice(-max)),
});
