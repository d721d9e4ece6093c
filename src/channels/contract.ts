import type { Part, PlatformStatus } from "./inbound-event.ts";
import type { TypingParty } from "./thread.ts";
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { TObject } from "typebox";
import type { Desk, DeskHost } from "./desk/contract.ts";
import type { Channel, Source } from "#domain/conversation/message.ts";
import type { Accepted, InboundEvent, InboundFile } from "./inbound-event.ts";
import type { TokenCheck } from "#domain/customer/user-token.ts";
import type { RecentThread, ThreadMessage, ThreadSignal, ThreadState } from "./thread.ts";
import type { Clock } from "#runtime/clock.ts";
import type { Log } from "#runtime/log.ts";

export type { TokenCheck, VerifiedUser } from "#domain/customer/user-token.ts";
export type { Accepted, InboundEvent, InboundFile, Sender } from "./inbound-event.ts";
export type { RecentThread, ThreadFile, ThreadMessage, ThreadSignal, ThreadState } from "./thread.ts";

/**
 * What a channel adapter is. An adapter knows its platform and nothing of the engine: it turns deliveries of the
 * platform into {@link InboundEvent}s and messages into platform calls. Everything that must survive is stored by the
 * host; an adapter keeps nothing that it cannot lose.
 */
export interface AdapterModule<Config = unknown> {
  /** The channels that accounts of this adapter can be of. */
  readonly channels: readonly Channel[];
  /** TypeBox schema of an account's configuration, secrets included; the host validates before `create`. */
  readonly config: TObject;
  /** Names of the configuration's fields that are stored encrypted and never shown. */
  readonly secrets: readonly string[];
  /**
   * What of the platform an account takes for itself, such as a bot, whose messages two accounts would take from each
   * other: the host refuses a second one. Absent where accounts can share whatever they are configured with.
   */
  identity?(config: Config): AccountIdentity;
  /** Called once for each account and process. Must not reach the network; throw an Error whose message tells the mend. */
  create(account: Account<Config>, host: ChannelHost): ChannelAdapter;
}

export interface AccountIdentity {
  /** The same for two accounts that would be the same. */
  readonly key: string;
  /** For the operator, such as "the bot 12345"; no secret. */
  readonly name: string;
  /** The setting that tells it. */
  readonly setting: string;
}

/** One connection to a platform in one workspace; several of a kind are normal. */
export interface Account<Config = unknown> {
  readonly id: string;
  readonly workspaceId: string;
  readonly channel: Channel;
  readonly name: string;
  readonly config: Config;
}

export interface ChannelAdapter {
  readonly capabilities: Capabilities;
  readonly inbound: Inbound;
  /**
   * The platform calls that bring this message across, in order. Pure. Splits on block borders, never cuts text off:
   * the texts of all parts together are the message. Called inside the engine's own work, so it must be quick.
   */
  render(message: OutboundMessage): readonly Part[];
  /**
   * Makes one platform call. `key` is the same on every retry of this part. Throws {@link DeliveryError}; anything else
   * thrown counts as outcome `unknown`. The host stores the receipt.
   */
  send(part: Part, context: SendContext): Promise<Receipt>;
  /**
   * Shows that an answer is being made. Best effort: the host ignores its failure. Not for a site: its sockets may be
   * held by several processes, and hear of it by {@link ChannelHost.watch}.
   */
  typing?(thread: string, who: TypingParty): Promise<void>;
  /**
   * After an unknown outcome: the receipt of the part sent under `key`, when the platform can tell that it has it;
   * null when it can tell that it does not. Absent where a platform can tell neither.
   */
  reconcile?(key: string, context: SendContext, attempt: Attempt): Promise<Receipt | null>;
  /**
   * The bytes of a file that a customer sent, named by {@link InboundFile.ref}. May be called again after a failure. Throws
   * {@link DeliveryError}: `rejected` when the platform will never give it, `not_sent` when asking again may help. The host
   * stops reading at its own limit, and then ends the iteration.
   */
  fetchFile?(ref: string, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>;
  /** Present where a customer can be written to freely only for so long after they have written. */
  readonly window?: ReplyWindow;
  /**
   * Whether nobody but the customer reads what is sent to this thread: then a reply that another channel does not take may
   * go there. Absent: the adapter cannot tell.
   */
  isPrivate?(thread: string): boolean;
  /** Changes a part that was sent before, where the platform can. Same errors as {@link send}. */
  edit?(part: Part, externalId: string, context: SendContext): Promise<void>;
  /** Takes back a part that was sent before, where the platform can. Same errors as {@link send}. */
  remove?(externalId: string, context: SendContext): Promise<void>;
  /**
   * Brings the thread into this state, on platforms where conversations have one; no call where it is in it already. Called
   * after everything that was sent before the change, and again after a failure. Same errors as {@link send}.
   */
  setState?(state: PlatformStatus, context: ThreadContext): Promise<void>;
  /**
   * Shows an agent's note to the people who work on the platform, and never to the customer. Called again after a failure,
   * so it looks first whether the note is there. Same errors as {@link send}.
   */
  addNote?(note: OutboundNote, context: ThreadContext): Promise<void>;
  /**
   * Tells the people who work on the platform that the bot leaves the conversation to them, and never the customer. Called
   * again after a failure, so it looks first what is done already. Same errors as {@link send}.
   */
  handOver?(handover: Handover, context: ThreadContext): Promise<void>;
  /**
   * Asks the platform whether the account works: what it is called there. Throws an Error whose message tells the mend,
   * without a credential.
   */
  check?(signal: AbortSignal): Promise<string>;
  /** The agents' desk on this account; present when {@link ChannelHost.desk} is. */
  readonly desk?: Desk;
  /** Frees sockets and timers; resolves when nothing of the adapter runs. Called once. */
  close(): Promise<void>;
}

export interface ReplyWindow {
  readonly ms: number;
  /** What holds once it is closed, in words for agents, without a full stop. */
  readonly closed: string;
  /** The calls that bring a message across all the same, or why there are none, for agents. Pure. */
  outside(message: OutboundMessage): readonly Part[] | string;
}

export interface OutboundNote {
  readonly id: string;
  /** Plain text. */
  readonly text: string;
  readonly author: string;
  /** Epoch milliseconds. */
  readonly createdAt: number;
}

export interface Handover {
  /** In words for agents, without a full stop. */
  readonly reason: string | null;
  /** Who has done it in Parley; null: the bot. */
  readonly by: string | null;
  /** Epoch milliseconds. */
  readonly at: number;
}

export type ThreadContext = Pick<SendContext, "thread" | "signal">;

export interface Capabilities {
  /** Characters that one part can hold, in the unit that the platform counts; null: no bound. */
  readonly textMax: number | null;
  readonly typing: boolean;
  /** After which it has to be shown again; absent: it is shown once. */
  readonly typingMs?: number;
  readonly receipts: boolean;
  /** Sending the same key again does not show the message again. */
  readonly idempotentSend: boolean;
  /** The largest file that can be sent; absent: the channel carries no files, and a link is sent instead. */
  readonly fileBytesMax?: number;
  /**
   * Present where agents' replies to a visitor who has left the website are sent by this account too, to the address
   * that the visitor gave, when they were not looked at for so long.
   */
  readonly followUp?: { readonly afterMs: number };
}

export type Inbound =
  /** The platform POSTs to `/channels/<channel>/<account>`. */
  | {
      readonly kind: "webhook";
      /**
       * Called before the body is read, with what the headers alone prove: a secret that is wrong, a signature that is
       * missing. The answer to refuse it with; null: read on.
       */
      refuse?(request: Omit<WebRequest, "body">): WebResponse | null;
      /** Larger bodies are refused with 413. Default: 4 MB. */
      readonly bodyBytesMax?: number;
      receive(request: WebRequest): Promise<WebResponse>;
      /**
       * Tells the platform where to deliver to. Called by one process at a time, at the start and again after a failure;
       * its error is shown to the operator.
       */
      register?(signal: AbortSignal): Promise<void>;
      /**
       * Runs beside the deliveries and after `register`, in one process at a time, until `signal` aborts: looks for what was
       * not delivered.
       */
      run?(signal: AbortSignal): Promise<void>;
    }
  /** The adapter connects to the platform; one process at a time runs it, until `signal` aborts. */
  | { readonly kind: "connection"; run(signal: AbortSignal): Promise<void> }
  /** Customers' browsers come to us: pages and scripts, and a WebSocket. */
  | {
      readonly kind: "site";
      readonly routes: readonly SiteRoute[];
      readonly socket?: SiteSocket;
      readonly uploads?: SiteUploads;
    };

export interface WebRequest {
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  /** The bytes as they came: signatures are made over them. */
  readonly body: Buffer;
  readonly remoteAddress: string;
}

export interface WebResponse {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

/** A GET route below the adapter's own prefix. `path` may end in `/*`. */
export interface SiteRoute {
  readonly path: string;
  handle(request: WebRequest): Promise<WebResponse> | WebResponse;
}

/** Files that a customer's browser sends: a POST whose body is the file, and the OPTIONS that ask for leave before. */
export interface SiteUploads {
  readonly path: string;
  /** `signal` aborts when the browser is gone. What is not read of the body is thrown away. */
  handle(request: Omit<WebRequest, "body">, body: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<WebResponse>;
}

export interface SiteSocket {
  readonly path: string;
  /** The handshake as it came; the adapter answers it, or refuses it with an HTTP status. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer, remoteAddress: string): void;
}

/** A file that an agent sends along. */
export interface OutboundFile {
  /** For {@link SendContext.file}. */
  readonly id: string;
  readonly name: string;
  readonly mediaType: string;
  readonly bytes: number;
}

/** A message to the customer. `markdown` is CommonMark with tables and strikethrough. */
export interface OutboundMessage {
  readonly role: "assistant" | "agent";
  readonly authorName: string | null;
  readonly markdown: string;
  readonly sources: readonly Source[];
  readonly files?: readonly OutboundFile[];
  /** It was sent with its text before the files, and is changed: no text can stand with a file any more. */
  readonly filesApart?: true;
  /** People have the conversation, or have it with this message: nobody needs to be asked for. */
  readonly forPeople?: true;
}

export interface SendContext {
  readonly thread: string;
  /** The same on each retry of this part, different for every other; at most 64 ASCII characters. */
  readonly key: string;
  readonly messageId: string;
  readonly signal: AbortSignal;
  /** The bytes of a file of this message. Absent where the host sends none. */
  file?(id: string): Promise<AsyncIterable<Uint8Array>>;
  /** An address by which anybody who has it, such as the platform, gets this file of the message for so long. */
  fileLink?(id: string, lifetimeMs: number): string;
}

/** A send whose outcome is not known. */
export interface Attempt {
  readonly part: Part;
  /** When the first try began, epoch milliseconds. */
  readonly startedAt: number;
  /** What the platform calls the newest other parts of the conversation: none of them can be this one. */
  readonly otherExternalIds: readonly string[];
}

export interface Receipt {
  /** The platform's id of what was sent. */
  readonly externalId: string | null;
  /** What the platform is known to have done with it by now. */
  readonly state: "sent" | "delivered";
  /** What answers may refer to it by; for {@link ChannelHost.threadOf}. */
  readonly messageRefs?: readonly string[];
}

/** What a reply by letter needs to know of a thread. */
export interface Correspondence {
  /** The customer's address as it is known now, proven or not. */
  readonly email: string | null;
  readonly name: string | null;
  /** When the customer last wrote by this account; null: never, or that is not known. */
  readonly wroteAt: number | null;
  /** The newest messages, newest first, with what was stored beside them. Notes are never among them. */
  readonly messages: readonly (Pick<ThreadMessage, "id" | "role" | "externalId" | "createdAt"> & {
    /** Who wrote it is not the thread's customer. */
    readonly guest: boolean;
    readonly metadata: Readonly<Record<string, unknown>>;
  })[];
}

/** What the workspace shows of itself on pages that customers see. */
export interface WorkspaceBranding {
  readonly id: string;
  readonly botName: string;
  readonly title: string;
  readonly greeting: string;
  readonly color: string;
  readonly allowedOrigins: readonly string[];
  readonly leadCapture: "off" | "on_handover";
  /** Files that customers may send from a page of ours; null: none. `types`: media types, or `image/*`; empty: all. */
  readonly files: { readonly bytesMax: number; readonly types: readonly string[] } | null;
}

/** What {@link ChannelHost.prefetchFiles} stores. */
export interface FileToPrefetch extends Omit<InboundFile, "ref"> {
  /** No two files of the account have the same, and a file has the same on each try. */
  readonly key: string;
  /** Called only where it is not stored yet. */
  readonly fetch: (signal: AbortSignal) => Promise<AsyncIterable<Uint8Array>>;
}

export type PrefetchedFile =
  | { readonly kind: "stored"; readonly file: OutboundFile }
  /** `reason`: what an agent may read. `isFinal`: it will never be had; otherwise it could not be had now. */
  | { readonly kind: "refused"; readonly name: string; readonly reason: string; readonly isFinal: boolean };

/** All that an adapter may ask of the program around it. */
export interface ChannelHost {
  /** Present when the agents of the workspace work on this account. What is written at the desk is no customer's. */
  readonly desk?: DeskHost;
  /** Where the platform delivers to; as reachable as PUBLIC_URL is. */
  readonly webhookUrl: string;
  /** Resolves when the event is durable; acknowledge only after. Rejects when it is not: do not acknowledge. */
  accept(event: InboundEvent): Promise<Accepted>;
  /** Of one file that a customer sends, or an agent. */
  readonly fileBytesMax: number;
  /**
   * Stores a file for a message to come in this thread. The message names it by its id as {@link InboundFile.ref}, and
   * need not be fetched. `address` is the sender's, `bytes` what it announced. Throws a Problem: payload_too_large for what
   * is too large or too many, rate_limit_day for a quota that is used up, storage_full.
   */
  upload(
    thread: string,
    file: { readonly name: string; readonly mediaType: string; readonly address: string; readonly bytes?: number },
    bytes: AsyncIterable<Uint8Array>,
    signal: AbortSignal,
  ): Promise<OutboundFile>;
  /**
   * Stores files for a message that is told of again until it is accepted: what one try has stored under a key the next
   * one does not fetch again. Rejects where a file cannot be had now, unless `isLastTry`; the answers stand in the order of
   * the files.
   */
  prefetchFiles(
    thread: string,
    files: readonly FileToPrefetch[],
    options: { readonly isLastTry: boolean; readonly withinMs: number },
    signal: AbortSignal,
  ): Promise<readonly PrefetchedFile[]>;
  /** Takes back what was uploaded or brought, and not sent. */
  dropUpload(thread: string, id: string): Promise<void>;
  /** The customer is writing: shown to agents, not stored. */
  customerTyping(thread: string): void;
  /** Messages after `afterSeq` in order, at most `limit`. Empty for a thread that has no conversation yet. */
  history(thread: string, afterSeq: number, limit: number): Promise<readonly ThreadMessage[]>;
  /** Of the messages up to `seq` those that were changed or taken back, in order; the newest ones where there are many. */
  amended(thread: string, seq: number): Promise<readonly ThreadMessage[]>;
  thread(thread: string): Promise<ThreadState | null>;
  /** Threads that are not archived and in which somebody wrote since, for an adapter that looks for what it has missed. */
  recentThreads(since: number): Promise<readonly RecentThread[]>;
  /** Threads whose names begin so, in whatever state. `prefix` ends in a character of ASCII. */
  threadsBeginning(prefix: string): Promise<readonly string[]>;
  /** Calls back on every change of the thread, in whichever process it happens. Returns the end of it. */
  watch(thread: string, listener: (signal: ThreadSignal) => void): () => void;
  /** Tells every watcher of the thread that it changed. */
  announce(thread: string): void;
  workspace(): Promise<WorkspaceBranding>;
  /** Whether this hash proves the user id with the workspace's identity secret. Constant time. */
  verifyUser(userId: string, hash: string): Promise<boolean>;
  /** Checks the company's JWT and returns its user. */
  checkUserToken(token: string): Promise<TokenCheck>;
  /** A signed token with `value` in it, readable by anybody; only this account's {@link verifyToken} accepts it. */
  signToken(value: string): string;
  /** The value; null when the token is not ours or was changed. */
  verifyToken(token: string): string | null;
  /**
   * False where it is only asked whether an account works that is not stored as it is declared, such as before the first
   * start: what is remembered then is thrown away.
   */
  readonly keeps: boolean;
  /** Keeps a value for the account, for good: durable when it resolves. `key` has at most 190 characters. */
  remember(key: string, value: string): Promise<void>;
  /**
   * Keeps `after` for a while, if `before` is what is kept under the key now (null: nothing); whether it was. Durable when it
   * resolves. Two values that differ have to differ in more than the spaces at their end.
   */
  exchange(key: string, before: string | null, after: string, lifetimeMs: number): Promise<boolean>;
  /** What was kept under the key; null: nothing. */
  recall(key: string): Promise<string | null>;
  /** The same for what must not be stored in the clear, under names of its own. */
  rememberSecret(key: string, value: string): Promise<void>;
  recallSecret(key: string): Promise<string | null>;
  /** The thread of the first of these that a message received or sent by this account is marked with. */
  threadOf(marks: readonly string[]): Promise<string | null>;
  /** Null for a thread that has no conversation. */
  correspondence(thread: string, limit: number): Promise<Correspondence | null>;
  /** The agent with this address; null when there is none. */
  agent(email: string): Promise<{ readonly email: string; readonly name: string } | null>;
  /** How many messages the bot has sent by itself since then to whoever has this address. */
  botMessagesTo(email: string, since: number): Promise<number>;
  /** The same for one thread, whose customer may have no address. */
  botMessagesIn(thread: string, since: number): Promise<number>;
  /** Takes one of `max` slots of `name` in the running window; false when they are used up. In memory, for each process. */
  allow(name: string, max: number, windowMs: number): boolean;
  readonly clock: Clock;
  readonly log: Log;
}
