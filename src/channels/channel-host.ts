import type { DeskHost } from "./desk/contract.ts";
import type { Accepted, InboundEvent, InboundFile } from "./inbound-event.ts";
import type { RecentThread, ThreadMessage, ThreadSignal, ThreadState } from "./thread.ts";
import type { TokenCheck } from "#domain/customer/user-token.ts";
import type { Clock } from "#runtime/clock.ts";
import type { Log } from "#runtime/log.ts";
import type { LookupFunction } from "node:net";
import type { WebRequest, WebResponse } from "./http/web-request.ts";

/** The program's functions for the adapter of one account. */
export interface ChannelHost {
  /** The address for the platform's deliveries; reachable only if PUBLIC_URL is. */
  readonly webhookUrl: string;
  /** Resolves when the event is durable; acknowledge only after that. Do not acknowledge when it rejects. */
  accept(event: InboundEvent): Promise<Accepted>;
  readonly state: AccountState;
  readonly threads: HostThreads;
  readonly files: HostFiles;
  readonly people: HostPeople;
  /** Present when the workspace's agents work on this account. Messages at the desk are never a customer's. */
  readonly desk?: DeskHost;
  workspace(): Promise<WorkspaceBranding>;
  /** A signed token with `value` in it, readable by anybody; only this account's {@link verifyToken} accepts it. */
  signToken(value: string): string;
  /** The value; null when the token is not ours or was changed. */
  verifyToken(token: string): string | null;
  /** Takes one of `max` slots of `name` in the current window; false when none is left. In memory, for each process. */
  allow(name: string, max: number, windowMs: number): boolean;
  /**
   * Resolves servers of the settings for each connection, IP addresses too; refuses those that only the operator may
   * choose. Absent where the operator has chosen them.
   */
  readonly lookup?: LookupFunction;
  /** Present for an account that the installation of an app has connected. */
  readonly installation?: HostInstallation;
  /**
   * Shows the account as not connected until its settings change. `cause`: for the administrator, with the fix. Durable
   * when it resolves.
   */
  reportDown(cause: string): Promise<void>;
  /** Shows agents a message that was skipped on purpose. Durable when it resolves; a repetition changes nothing. */
  reportSkipped(message: SkippedMessage): Promise<void>;
  readonly clock: Clock;
  readonly log: Log;
}

/** One app can be installed in several workspaces of the platform, each of which has an account. */
export interface HostInstallation {
  /** The `key` that the adapter's installation named. */
  readonly key: string;
  /**
   * Hands a delivery to the account of another installation, which verifies it with its own secrets, and resolves to its
   * response. Null: no account takes it.
   */
  deliver(key: string, request: WebRequest): Promise<WebResponse | null>;
}

export interface SkippedMessage {
  /** At most 190 characters. */
  readonly externalId: string;
  /** Epoch milliseconds. */
  readonly receivedAt: number;
  /** An e-mail address; null: unknown. */
  readonly sender: string | null;
  /** Such as the subject. */
  readonly title: string;
  /** A sentence for agents. */
  readonly reason: string;
}

/** Values that the adapter stores for its account. Keys have at most 190 characters. */
export interface AccountState {
  /**
   * False in a check of an account that is not stored as it is declared, such as before the first start: values are then
   * discarded.
   */
  readonly isKept: boolean;
  /** Null: there is no value. */
  get(key: string): Promise<string | null>;
  /** Durable when it resolves; never expires. */
  set(key: string, value: string): Promise<void>;
  /**
   * Sets `after`, which expires after `lifetimeMs` (null: never), if the value is `before` now (null: no value); resolves
   * to whether it was. Durable when it resolves. Two values must differ in more than spaces at their end.
   */
  compareAndSet(key: string, before: string | null, after: string, lifetimeMs: number | null): Promise<boolean>;
  /** The same for values that are stored encrypted, under keys of their own. */
  getSecret(key: string): Promise<string | null>;
  setSecret(key: string, value: string): Promise<void>;
}

/** The account's threads and their messages. */
export interface HostThreads {
  /** Null for a thread without a conversation. */
  get(thread: string): Promise<ThreadState | null>;
  /** Messages after `afterSeq` in order, at most `limit`. Empty for a thread without a conversation. */
  history(thread: string, afterSeq: number, limit: number): Promise<readonly ThreadMessage[]>;
  /** Messages up to `seq` that were edited, deleted or reacted to, in order; only the newest ones when there are many. */
  amended(thread: string, seq: number): Promise<readonly ThreadMessage[]>;
  /** Threads with a message since then that are not archived, for an adapter that looks for missed messages. */
  recent(since: number): Promise<readonly RecentThread[]>;
  /** Threads of any state whose names begin with `prefix`, which ends in an ASCII character. */
  withPrefix(prefix: string): Promise<readonly string[]>;
  /** The thread of the first of these references that belongs to a message of this account. */
  findByMessageRef(messageRefs: readonly string[]): Promise<string | null>;
  /**
   * The thread of a message of this account, for events that name the message alone. `partId`: as a receipt gave it;
   * `eventId`: the event that brought it, which is known for some days.
   */
  ofMessage(message: { readonly partId: string; readonly eventId: string }): Promise<string | null>;
  /** Null for a thread without a conversation. */
  correspondence(thread: string, limit: number): Promise<Correspondence | null>;
  /** Calls `listener` on every change of the thread, in any process. Returns a function that stops this. */
  watch(thread: string, listener: (signal: ThreadSignal) => void): () => void;
  /** Notifies every watcher of the thread of a change. */
  announce(thread: string): void;
  /** Shows agents that the customer is typing. Not stored. */
  customerTyping(thread: string): void;
}

export interface HostFiles {
  /** The largest file, in bytes, that a customer or an agent may send. */
  readonly bytesMax: number;
  /**
   * Stores a file for a later message of this thread, which names it by its id as {@link InboundFile.ref} and is not
   * fetched. `address` is the sender's, `bytes` the announced size. Throws a Problem: payload_too_large for too large or
   * too many, rate_limit_day for a quota that is used up, storage_full.
   */
  upload(
    thread: string,
    file: { readonly name: string; readonly mediaType: string; readonly address: string; readonly bytes?: number },
    bytes: AsyncIterable<Uint8Array>,
    signal: AbortSignal,
  ): Promise<OutboundFile>;
  /**
   * Stores files for a message that the adapter retries until it is accepted: a file stored under a key is not fetched
   * again. Rejects when a file cannot be fetched now, unless `isLastTry`. The results have the order of the files.
   */
  prefetch(
    thread: string,
    files: readonly FileToPrefetch[],
    options: { readonly isLastTry: boolean; readonly withinMs: number },
    signal: AbortSignal,
  ): Promise<readonly PrefetchedFile[]>;
  /** Deletes a file that was uploaded or prefetched, and not sent. */
  drop(thread: string, id: string): Promise<void>;
}

/** Agents, and users that the company signs in. */
export interface HostPeople {
  /** The agent with this address; null when there is none. */
  agent(email: string): Promise<{ readonly email: string; readonly name: string } | null>;
  /** Whether this hash proves the user id with the workspace's identity secret. Constant time. */
  verifyUser(userId: string, hash: string): Promise<boolean>;
  /** Checks the company's JWT and returns its user. */
  checkUserToken(token: string): Promise<TokenCheck>;
}

/** A file that an agent attached. */
export interface OutboundFile {
  /** For `SendContext.file`. */
  readonly id: string;
  readonly name: string;
  readonly mediaType: string;
  readonly bytes: number;
}

/** A thread's data for an e-mail reply. */
export interface Correspondence {
  /** The customer's current address, proven or not. */
  readonly email: string | null;
  readonly name: string | null;
  /** When the customer last wrote by this account; null: never, or unknown. */
  readonly wroteAt: number | null;
  /** The newest messages without notes, newest first. */
  readonly messages: readonly (Pick<ThreadMessage, "id" | "role" | "externalId" | "createdAt"> & {
    /** Empty where it was deleted. */
    readonly content: string;
    /** The author is not the thread's customer. */
    readonly guest: boolean;
    readonly metadata: Readonly<Record<string, unknown>>;
  })[];
}

/** How the workspace presents itself on pages that customers see. */
export interface WorkspaceBranding {
  readonly id: string;
  readonly botName: string;
  readonly title: string;
  readonly greeting: string;
  readonly color: string;
  readonly allowedOrigins: readonly string[];
  readonly leadCapture: "off" | "on_handover";
  /** Files that customers may upload from a page; null: none. `types`: media types, or `image/*`; empty: all. */
  readonly files: { readonly bytesMax: number; readonly types: readonly string[] } | null;
}

/** A file that {@link HostFiles.prefetch} stores. */
export interface FileToPrefetch extends Omit<InboundFile, "ref"> {
  /** Unique within the account, and the same on each try. */
  readonly key: string;
  /** Called only when it is not stored yet. */
  readonly fetch: (signal: AbortSignal) => Promise<AsyncIterable<Uint8Array>>;
}

export type PrefetchedFile =
  | { readonly kind: "stored"; readonly file: OutboundFile }
  /** `reason`: for agents. `isFinal`: a later try cannot succeed. */
  | { readonly kind: "refused"; readonly name: string; readonly reason: string; readonly isFinal: boolean };
