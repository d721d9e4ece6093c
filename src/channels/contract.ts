import type { WebRequest, WebResponse } from "./http/web-request.ts";
import type { Part, PlatformStatus } from "./inbound-event.ts";
import type { TypingParty } from "./thread.ts";
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { TObject } from "typebox";
import type { Desk } from "./desk/contract.ts";
import type { Channel, MessageKind, Source } from "#domain/conversation/message.ts";
import type { ChannelHost, OutboundFile } from "./channel-host.ts";
import type { AppInstall } from "./install.ts";

export type { VerifiedUser } from "#domain/customer/user-token.ts";
export type {
  AccountState,
  ChannelHost,
  Correspondence,
  FileToPrefetch,
  HostFiles,
  HostPeople,
  HostThreads,
  OutboundFile,
  PrefetchedFile,
  WorkspaceBranding,
} from "./channel-host.ts";
export type { WebRequest, WebResponse } from "./http/web-request.ts";
export type { Accepted, Forwarded, InboundEvent, InboundFile, Reference, Sender } from "./inbound-event.ts";
export type { RecentThread, ThreadFile, ThreadMessage, ThreadSignal, ThreadState } from "./thread.ts";

/**
 * A channel adapter, as `adapters/<folder>/index.ts` exports it by default. It knows its platform and nothing of the
 * program: it turns the platform's deliveries into {@link InboundEvent}s, and messages into platform calls. The host
 * stores everything that must survive; an adapter keeps nothing that it cannot lose.
 */
export interface AdapterModule<Config = unknown> {
  /** TypeBox schema of an account's configuration, secrets included; the host validates before `create`. */
  readonly config: TObject;
  /** Names of the configuration's fields that are stored encrypted and never shown. */
  readonly secrets: readonly string[];
  /** Names of the settings that say which server gets the secrets: each a URL or a host name. */
  readonly addresses?: readonly string[];
  /** Whether a change sends the secrets to another port of these servers, or less protected. Absent: it cannot. */
  exposes?(before: Config, after: Config): boolean;
  /**
   * The resource that only one account can use, such as a bot: two accounts would take its messages from each other, so
   * the host refuses the second one. Absent where accounts can share everything.
   */
  identity?(config: Config): AccountIdentity;
  /**
   * Called once for each account and process, and again after its settings changed: the adapter of the old settings may
   * still be sending then, and is closed afterwards. Must not use the network. Throws an Error whose message says what
   * to do.
   */
  create(account: Account<Config>, host: ChannelHost): ChannelAdapter;
  /**
   * Files of which the administrator gives the platform one, such as an app's manifest. `webhookUrl`: the account's address
   * for deliveries; null before the account exists. `redirectUrl`: where `install` leads back to.
   */
  setupFiles?(webhookUrl: string | null, redirectUrl: string): Promise<readonly SetupFile[]>;
  /**
   * The administrator can enter the account's address for deliveries at the platform before the account exists. Absent:
   * nobody has to enter it, or the platform asks it at once.
   */
  readonly isAddressEntered?: true;
  /** Absent where accounts are connected by entering all settings only. */
  readonly install?: AppInstall<Config>;
}

export interface SetupFile {
  /** The platform's name for it. */
  readonly label: string;
  readonly text: string;
  /** A page of the platform that takes the file from its address. */
  readonly link: { readonly label: string; readonly url: string };
}

export interface AccountIdentity {
  /** Equal for two accounts that would use the same thing. */
  readonly key: string;
  /** For the administrator, such as "the bot 12345"; no secret. */
  readonly name: string;
  /** The setting that it comes from. */
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

/** An adapter with its optional abilities. The presence of a member declares the ability. */
export interface ChannelAdapter
  extends
    AdapterCore,
    Partial<CanShowTyping>,
    Partial<CanReconcile>,
    Partial<CanFetchFiles>,
    Partial<CanEdit>,
    Partial<CanRemove>,
    Partial<CanReact>,
    Partial<CanCheck>,
    Partial<CanWriteFirst>,
    Partial<HasReplyWindow>,
    Partial<HasPrivateThreads>,
    Partial<HasPlatformStatus>,
    Partial<HasDesk> {}

interface AdapterCore {
  readonly capabilities: Capabilities;
  readonly inbound: Inbound;
  /**
   * The platform calls that send this message, in order. Pure. Splits on block borders and cuts nothing off: the texts of
   * all parts together are the message. Called within a database transaction, so it must be quick.
   */
  render(message: OutboundMessage): readonly Part[];
  /**
   * Makes one platform call. `key` is the same on every retry of this part. Throws {@link DeliveryError}; any other error
   * counts as outcome `unknown`. The host stores the receipt.
   */
  send(part: Part, context: SendContext): Promise<Receipt>;
  /** Frees sockets and timers; resolves when nothing of the adapter runs. Called once. */
  close(): Promise<void>;
}

export interface CanShowTyping {
  /**
   * Shows that an answer is being prepared. The host ignores a failure. A site does not implement it: other processes may
   * hold its sockets, and hear of it by `HostThreads.watch`.
   */
  typing(thread: string, who: TypingParty): Promise<void>;
}

export interface CanReconcile {
  /**
   * Called after an unknown outcome. The receipt of the part sent under `key`; null when the platform can tell that it
   * does not have it. Throws {@link DeliveryError} when the platform does not answer now; it is asked again later.
   */
  reconcile(key: string, context: SendContext, attempt: Attempt): Promise<Receipt | null>;
}

export interface CanFetchFiles {
  /**
   * The bytes of a customer's file, named by `InboundFile.ref`. Called again after a failure. Throws
   * {@link DeliveryError}: `rejected` when the platform will never return it, `not_sent` when a retry may help. The host
   * stops reading at its own limit, and then ends the iteration.
   */
  fetchFile(ref: string, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>;
}

export interface CanEdit {
  /** Changes a part that was sent before. Same errors as {@link AdapterCore.send}. */
  edit(part: Part, externalId: string, context: SendContext): Promise<void>;
}

export interface CanRemove {
  /** Removes a part that was sent before. Same errors as {@link AdapterCore.send}. */
  remove(externalId: string, context: SendContext): Promise<void>;
}

/** On platforms where the account can react to a customer's message. */
export interface CanReact {
  /**
   * Shows the account's reaction, one of `agentReactions`, in place of `replaces`; null: takes that back. A second call with
   * the same arguments changes nothing. Same errors as {@link AdapterCore.send}.
   */
  react(
    externalId: string,
    emoji: string | null,
    context: ThreadContext & { readonly replaces: string | null },
  ): Promise<void>;
}

export interface CanCheck {
  /**
   * Asks the platform whether the account works. Resolves to its name there. Throws an Error whose message says what to
   * do, without a credential.
   */
  check(signal: AbortSignal): Promise<string>;
}

/** On platforms where the account may begin a conversation, such as with a test message. */
export interface CanWriteFirst {
  readonly writeFirst: WriteFirst;
}

/** On platforms where a business may write freely only for some time after the customer wrote. */
export interface HasReplyWindow {
  readonly window: ReplyWindow;
}

export interface HasPrivateThreads {
  /**
   * Whether only the customer reads this thread: a reply that another channel does not deliver may then be sent there.
   * Without this ability no thread counts as private.
   */
  isPrivate(thread: string): boolean;
}

/** On platforms where the company's people work too, such as a help desk. */
export interface HasPlatformStatus {
  /**
   * Brings the thread into this state; makes no call when it already has it. Called after everything that was sent before
   * the change, and again after a failure. Same errors as {@link AdapterCore.send}.
   */
  setState(state: PlatformStatus, context: ThreadContext): Promise<void>;
  /**
   * Shows an agent's note to the platform's people, never to the customer. Called again after a failure: must first look
   * whether the note is there. Same errors as {@link AdapterCore.send}.
   */
  addNote(note: OutboundNote, context: ThreadContext): Promise<void>;
  /**
   * Notifies the platform's people, never the customer, that the bot hands the conversation over. Called again after a
   * failure: must first look what is done already. Same errors as {@link AdapterCore.send}.
   */
  handOver(handover: Handover, context: ThreadContext): Promise<void>;
}

/** Present when {@link ChannelHost.desk} is. */
export interface HasDesk {
  readonly desk: Desk;
}

export interface WriteFirst {
  /** The kind of address that the administrator enters, such as "Telephone number". */
  readonly label: string;
  /** One sentence that says where it is found. */
  readonly hint: string;
  /** The address is an e-mail address, such as the administrator's own. */
  readonly isEmail?: true;
  /** The thread of an address. Undefined if it is not one. */
  thread(address: string): string | undefined;
  /**
   * Sends the text to an address where a thread begins only with the answer. Same errors as {@link AdapterCore.send}.
   * Absent: the text is sent into the thread.
   */
  send?(address: string, text: string, context: Pick<SendContext, "key" | "signal">): Promise<void>;
}

export interface ReplyWindow {
  readonly ms: number;
  /** Whether the thread has a window. Pure. Absent: each thread has. */
  appliesTo?(thread: string): boolean;
  /** For agents, once it is closed: the reason, without a full stop. */
  readonly closed: string;
  /** The calls that deliver a message even then, or for agents the reason why there are none. Pure. */
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
  /** For agents, without a full stop. */
  readonly reason: string | null;
  /** The agent who did it in Parley; null: the bot. */
  readonly by: string | null;
  /** Epoch milliseconds. */
  readonly at: number;
}

export type ThreadContext = Pick<SendContext, "thread" | "signal">;

export interface Capabilities {
  /** Most characters of one part, in the platform's own unit; null: no limit. */
  readonly textMax: number | null;
  readonly typing: boolean;
  /** How long the platform shows it, in milliseconds; absent: it is shown once. */
  readonly typingMs?: number;
  readonly receipts: boolean;
  /** Customers cannot answer a survey here, or are asked by the platform itself: none is sent. */
  readonly noSurveys?: true;
  /**
   * A message can refer to an earlier one, `OutboundMessage.refersTo`. A pattern: only to messages whose id matches, since
   * others are of another provider. Otherwise such a message begins with a quote of the other one.
   */
  readonly references?: true | RegExp;
  /** A second send with the same key shows nothing. */
  readonly idempotentSend: boolean;
  /** The largest file that can be sent; absent: the channel carries no files, and a link is sent instead. */
  readonly fileBytesMax?: number;
  /**
   * Present where this account also sends agents' replies to a visitor who left the website: to the address that the
   * visitor gave, once a reply was unread for `afterMs` milliseconds.
   */
  readonly followUp?: { readonly afterMs: number };
}

export type Inbound =
  /** The platform POSTs to `/channels/<channel>/<account>`. */
  | {
      readonly kind: "webhook";
      /**
       * Called before the body is read: refuses a wrong secret or a missing signature. Returns the refusal; null: the body
       * is read.
       */
      refuse?(request: Omit<WebRequest, "body">): WebResponse | null;
      /** Larger bodies are refused with 413. Default: 4 MB. */
      readonly bodyBytesMax?: number;
      receive(request: WebRequest): Promise<WebResponse>;
      /** Called in place of `receive` while the account is paused. Null: the delivery is for this account. */
      relay?(request: WebRequest): Promise<WebResponse | null>;
      /**
       * Registers the webhook's address at the platform. Called by one process at a time, at the start and again after a failure;
       * its error is shown to the administrator.
       */
      register?(signal: AbortSignal): Promise<void>;
      /**
       * Looks for messages that were not delivered. Runs after `register`, in one process at a time, until `signal` aborts.
       */
      run?(signal: AbortSignal): Promise<void>;
    }
  /** The adapter connects to the platform; one process at a time runs it, until `signal` aborts. */
  | {
      readonly kind: "connection";
      run(signal: AbortSignal): Promise<void>;
      /** Takes what the connection of another account has received for this one, `HostInstallation.deliver`. */
      receive?(request: WebRequest): Promise<WebResponse>;
    }
  /** Customers' browsers request pages and scripts, and open a WebSocket. */
  | {
      readonly kind: "site";
      readonly routes: readonly SiteRoute[];
      readonly socket?: SiteSocket;
      readonly posts?: readonly SitePost[];
    };

/** A GET route below the adapter's own prefix. `path` may end in `/*`. */
export interface SiteRoute {
  readonly path: string;
  handle(request: WebRequest): Promise<WebResponse> | WebResponse;
}

/** A POST of a customer's browser, such as a file that it uploads, and its preflight OPTIONS. */
export interface SitePost {
  readonly path: string;
  /** `signal` aborts when the browser disconnects. The unread rest of the body is discarded. */
  handle(request: Omit<WebRequest, "body">, body: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<WebResponse>;
}

export interface SiteSocket {
  readonly path: string;
  /** The adapter answers the handshake, or refuses it with an HTTP status. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer, remoteAddress: string): void;
}

/** A message to the customer. `markdown` is CommonMark with tables and strikethrough. */
export interface OutboundMessage {
  readonly role: "assistant" | "agent";
  readonly authorName: string | null;
  readonly markdown: string;
  readonly sources: readonly Source[];
  readonly files?: readonly OutboundFile[];
  /** An edit of a message whose text was sent before its files: the text must stay apart from them. */
  readonly filesApart?: true;
  /** The earlier message that an agent answers. Only where the adapter has the capability `references`. */
  readonly refersTo?: OutboundReference;
  /** People have the conversation, or get it with this message: no button that asks for a person is needed. */
  readonly forPeople?: true;
  /**
   * `answer` and `refusal`: of the bot; the customer may give an opinion, a `feedback` event. `survey`: asks for a rating
   * from 1 to 5, a `rating` event. Its text also says how to answer by typing a number, so buttons are optional.
   */
  readonly kind?: Exclude<MessageKind, "rating">;
}

/** A message of the same thread. */
export interface OutboundReference {
  /** The platform's id, from the receipt of a reply or the event of a customer's message. Null: it has none. */
  readonly externalId: string | null;
  readonly text: string;
}

export interface SendContext {
  readonly thread: string;
  /** The same on each retry of this part, unique otherwise; at most 64 ASCII characters. */
  readonly key: string;
  readonly messageId: string;
  readonly signal: AbortSignal;
  /** The bytes of a file of this message. Absent where the channel carries no files. */
  file?(id: string): Promise<AsyncIterable<Uint8Array>>;
  /** An address where anybody, such as the platform, can fetch this file without credentials until it expires. */
  fileLink?(id: string, lifetimeMs: number): string;
}

/** A send with an unknown outcome. */
export interface Attempt {
  readonly part: Part;
  /** When the first try began, epoch milliseconds. */
  readonly startedAt: number;
  /** Platform ids of the newest other parts of the conversation: this part is none of them. */
  readonly otherExternalIds: readonly string[];
}

export interface Receipt {
  /** The platform's id of the message. */
  readonly externalId: string | null;
  /** The latest state that the platform reported. */
  readonly state: "sent" | "delivered";
  /** Ids by which answers may refer to it; for `HostThreads.findByMessageRef`. */
  readonly messageRefs?: readonly string[];
}
