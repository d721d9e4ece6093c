import type { AccountEffects } from "#admin/channels/accounts.ts";
import type { CanRetry } from "#admin/installation/dead-letters.ts";
import type { Secrets } from "#runtime/secrets.ts";
import type { AllowPrivate } from "#outbound/addresses.ts";
import type { GuardedFetch } from "#outbound/guarded-fetch.ts";
import type { Logger } from "pino";
import type { Registry } from "prom-client";
import type {
  ChannelHost,
  Inbound,
  SetupFile,
  SiteRoute,
  SiteSocket,
  SitePost,
  WebResponse,
} from "#channels/contract.ts";
import type { Channel } from "#domain/conversation/message.ts";
import type { TokenKeys } from "#domain/customer/user-token.ts";
import type { Engine } from "#conversations/contract.ts";
import type { Clock } from "#runtime/clock.ts";
import type { ConversationFilter, ListPosition } from "#database/search/contract.ts";
import type { Fanout, Wake } from "#runtime/signals.ts";
import type { Files } from "#files/contract.ts";
import type { Store, Tx } from "#database/contract.ts";
import type { BodyLimits } from "./middleware/bodies/bodies.ts";
import type { ConversationRow } from "#database/queries/conversations.ts";
import type { ProcessWatch } from "#database/process-heartbeat.ts";

/** The parts of the program that the HTTP server needs. */
export interface HttpDependencies {
  readonly store: Store;
  /** This process in the table of running processes. */
  readonly processId: string;
  readonly watch: Pick<ProcessWatch, "silent">;
  readonly engine: Engine;
  readonly fanout: Fanout;
  readonly wake: Wake;
  readonly canRetry: CanRetry;
  readonly documents: DocumentService;
  readonly files: Pick<Files, "bytesMax" | "store" | "open" | "link" | "ofLink">;
  /** Conversations after `before`, in the order of the list. */
  listConversations(
    filter: ConversationFilter & { readonly text?: string },
    before: ListPosition | undefined,
    limit: number,
  ): Promise<{ readonly rows: readonly ConversationRow[]; readonly hasMore: boolean }>;
  /** The workspace's keys for identity proofs, unencrypted. */
  tokenKeys(workspaceId: string): Promise<TokenKeys>;
  /** Signs pagination cursors. The same in every process of an installation, at least 16 bytes. */
  readonly cursorKey: Buffer;
  readonly sites: Sites;
  readonly channelAccounts: ChannelAccounts;
  /** `/demo`; absent where there is no demo. */
  readonly demoPage?: () => Promise<WebResponse>;
  /** Reads the calibration of the embedding server's model in this workspace; null: there is none. */
  encoderReport(workspaceId: string): Promise<EncoderReport | null>;
  /** The state of every dependency, within `readinessMs`. */
  readiness(): Promise<readonly DependencyState[]>;
  /** Answers a challenge so that a client with the installation's secret can recognise this installation. Undefined: no challenge. */
  prove(nonce: unknown): string | undefined;
  /** The folder of the browser build; `dist/` unless a test says otherwise. */
  readonly assets?: URL;
  /** Whether the program can send mails. */
  readonly canMail: boolean;
  /** Encrypts what administrators enter. */
  readonly secrets: Secrets;
  /** Fetches addresses that administrators have entered. */
  readonly guardedFetch: GuardedFetch;
  /** Private addresses that may be reached. */
  readonly allowPrivate: AllowPrivate;
  readonly metrics: Registry;
  readonly clock: Clock;
  readonly log: Logger;
  readonly options: HttpOptions;
}

/** The result of a calibration. */
interface EncoderReport {
  readonly model: string;
  readonly dimensions: number;
  readonly prefixes: string;
  readonly separation: number | null;
  readonly fit: boolean;
  readonly calibrated_at: number;
}

/** Stored bytes without a document yet. */
export interface StoredBytes {
  readonly id: string;
  readonly hash: string;
}

/** A text written in the dashboard. */
export interface ArticleText {
  readonly title: string;
  /** Markdown. */
  readonly content: string;
  readonly audience: readonly string[];
}

/** Called in the transaction of a change, to record it. */
export type RecordDocumentChange = (
  tx: Tx,
  change: { readonly verb: "added" | "changed" | "removed"; readonly title: string; readonly to?: string },
) => Promise<void>;

/** Writes documents for the API, which reads them from the database. */
export interface DocumentService {
  /** Throws Problem `unsupported_media_type`. */
  checkType(fileName: string, mediaType: string): void;
  /** Stores bytes as they arrive. Throws Problem `payload_too_large`. */
  receive(bytes: AsyncIterable<Uint8Array>): Promise<StoredBytes>;
  /** Removes bytes without a document. */
  discard(body: StoredBytes): Promise<void>;
  /** Makes a document of received bytes and queues its indexing. */
  add(
    document: {
      readonly workspaceId: string;
      readonly fileName: string;
      readonly mediaType?: string;
      readonly body: StoredBytes;
      readonly audience?: readonly string[];
    },
    record?: RecordDocumentChange,
  ): Promise<{ readonly id: string }>;
  crawl(
    site: {
      readonly workspaceId: string;
      readonly url: string;
      readonly maxPages?: number;
      readonly sitemap?: string;
      readonly audience?: readonly string[];
    },
    record?: RecordDocumentChange,
  ): Promise<{ readonly id: string }>;
  /** Undefined when there is no such document. Throws Problem `not_a_website`. */
  recrawl(
    workspaceId: string,
    documentId: string,
    record?: RecordDocumentChange,
  ): Promise<{ readonly id: string } | undefined>;
  /** Undefined when there is no such document. Throws Problem `invalid_parameter`. */
  change(
    workspaceId: string,
    documentId: string,
    change: { readonly title?: string; readonly audience?: readonly string[] },
    record?: RecordDocumentChange,
  ): Promise<{ readonly id: string } | undefined>;
  /** The text of an article or a text file. Undefined when there is no such document. Throws Problem `not_editable`. */
  content(
    workspaceId: string,
    documentId: string,
  ): Promise<{ readonly text: string; readonly version: string } | undefined>;
  addArticle(
    workspaceId: string,
    article: ArticleText,
    record?: RecordDocumentChange,
  ): Promise<{ readonly id: string }>;
  /** Undefined when there is no such document. Throws Problem `not_editable` and `edit_conflict`. */
  saveArticle(
    workspaceId: string,
    documentId: string,
    edit: Omit<ArticleText, "audience"> & { readonly audience?: readonly string[]; readonly basedOn: string },
    record?: RecordDocumentChange,
  ): Promise<{ readonly id: string } | undefined>;
  /** The uploaded files of these names. */
  ofFiles(
    workspaceId: string,
    fileNames: readonly string[],
  ): Promise<readonly { readonly id: string; readonly title: string; readonly indexedAt: number | null }[]>;
  /** False when there is no such document in this workspace. */
  remove(workspaceId: string, documentId: string, record?: RecordDocumentChange): Promise<boolean>;
}

/** The channels and accounts of this process, for administrators. */
export interface ChannelAccounts extends AccountEffects {
  /** Resolves servers that administrators have chosen; refuses those that only the operator may choose. */
  readonly lookup: NonNullable<ChannelHost["lookup"]>;
  /** The channels that can be connected. */
  kinds(): readonly ListedChannelKind[];
  /** Loads the adapter. Undefined where the channel cannot be connected. */
  kind(channel: Channel, provider?: string): Promise<ChannelKind | undefined>;
  abilities(account: { readonly id: string; readonly channel: Channel }): Promise<AccountAbilities>;
  /** Asks the platform whether the account works. */
  check(account: {
    readonly id: string;
    readonly name: string;
    readonly channel: Channel;
  }): Promise<readonly { readonly name: string; readonly ok: boolean; readonly detail: string }[]>;
  /** Sends a text to an address of the platform. Throws Problem `channel_refused`, `invalid_parameter`. */
  sendTest(accountId: string, message: ChannelTestMessage): Promise<void>;
}

export interface ChannelTestMessage {
  readonly to: string;
  readonly text: string;
  /** Called before the platform is called, and not for a message that is refused without it. */
  begin(): Promise<void>;
}

export interface ListedChannelKind {
  readonly channel: Channel;
  /** The value of the setting `provider`. Null: the channel has one provider. */
  readonly provider: string | null;
  readonly label: string;
  /** Whether the platform has to reach this server at a public https address. */
  readonly publicAddress: "required" | "optional" | "no";
}

export interface ChannelKind extends ListedChannelKind {
  /** JSON schema of the settings. */
  readonly schema: Readonly<Record<string, unknown>>;
  /** Settings that are stored encrypted and never shown. */
  readonly secrets: readonly string[];
  /** How an account is connected, in Markdown. */
  readonly steps: string;
  readonly setupFiles: readonly SetupFile[];
  /**
   * An unused id for an account, and the address that the administrator enters at the platform. Null: they enter none
   * before the account exists.
   */
  readonly newAccount: { readonly id: string; readonly webhookUrl: string } | null;
  /** The platform's own page connects accounts too. Null: it does not. */
  readonly install: {
    /** Text of the button. */
    readonly label: string;
    /** JSON schema of the settings that are entered before. */
    readonly schema: Readonly<Record<string, unknown>>;
    /** The address for the platform's list of permitted ones. */
    readonly redirectUrl: string;
  } | null;
}

export interface AccountAbilities {
  /** The adapter keeps a connection to the platform. */
  readonly hasConnection: boolean;
  /** The address that the platform delivers to; null: it delivers to none. */
  readonly webhookUrl: string | null;
  /** The address of a test message; null: only customers can begin a conversation. */
  readonly testAddress: { readonly label: string; readonly hint: string; readonly isEmail: boolean } | null;
  readonly setupFiles: readonly SetupFile[];
  /** The account has the settings for an installation of its app. */
  readonly canInstall: boolean;
  /** Why the adapter cannot be created; null: it can, or the account is disabled. */
  readonly fault: string | null;
}

/** HTTP handlers of channels. Undefined for an unknown address. */
export interface Sites {
  /** `/widget.js`, `/widget/…`: a script that is the same for every workspace, or what `query.workspace` names one for. */
  page(path: string, query: Readonly<Record<string, string>>): Promise<SiteRoute | undefined> | SiteRoute | undefined;
  /** A page of one workspace's account: `/chat/<workspace_id>`. */
  workspacePage(
    workspaceId: string,
    path: string,
    query: Readonly<Record<string, string>>,
  ): Promise<SiteRoute | undefined> | SiteRoute | undefined;
  socket(workspaceId: string, channel: Channel, path: string): Promise<SiteSocket | undefined> | SiteSocket | undefined;
  post(workspaceId: string, channel: Channel, path: string): Promise<SitePost | undefined> | SitePost | undefined;
  webhook(channel: string, account: string): Promise<Webhook | undefined> | Webhook | undefined;
}

export type Webhook = Pick<Extract<Inbound, { kind: "webhook" }>, "receive" | "refuse" | "bodyBytesMax">;

export interface DependencyState {
  readonly name: string;
  /** `degraded`: works, but not fully or not now; only `failed` takes the process out of service. */
  readonly state: "ready" | "degraded" | "failed";
  /** Why it is not ready, in words for the operator. */
  readonly cause: string | null;
}

export interface HttpOptions {
  /** The address for browsers and platforms, without a slash at the end. */
  readonly publicUrl: string;
  readonly version: string;
  /** Opens /metrics; absent: open to neighbours, as long as the public address is not public. */
  readonly metricsToken?: string | undefined;
  /** Addresses and ranges (CIDR) of proxies whose X-Forwarded-For is trusted. Empty: none. */
  readonly trustedProxies: readonly string[];
  readonly timeouts: HttpTimeouts;
  readonly bodies: BodyLimits;
  /** Maximum of open connections of this process; further ones are closed at once. */
  readonly connectionsMax: number;
}

/** All in milliseconds. */
export interface HttpTimeouts {
  /** A connection that has not sent a byte by then is closed. */
  readonly firstByteMs: number;
  readonly headersMs: number;
  /** For a whole request with its body. */
  readonly requestMs: number;
  /** For a body read into memory, and the longest silence within a streamed one. */
  readonly bodyMs: number;
  /** Interval of checks of `headersMs` and `requestMs`. */
  readonly checkMs: number;
  readonly keepAliveMs: number;
  readonly readinessMs: number;
  /** At the end of the program, requests in flight are cut off after this. */
  readonly closeMs: number;
}

export const defaultTimeouts: HttpTimeouts = {
  firstByteMs: 10_000,
  headersMs: 10_000,
  requestMs: 60_000,
  bodyMs: 20_000,
  checkMs: 2_000,
  keepAliveMs: 72_000,
  readinessMs: 5_000,
  closeMs: 7_500,
};

export const defaultConnectionsMax = 20_000;
