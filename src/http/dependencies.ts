import type { Logger } from "pino";
import type { Registry } from "prom-client";
import type { Inbound, SiteRoute, SiteSocket, SiteUploads, WebResponse } from "#channels/contract.ts";
import type { Channel } from "#domain/conversation/message.ts";
import type { TokenKeys } from "#domain/customer/user-token.ts";
import type { Engine } from "#conversations/contract.ts";
import type { Clock } from "#runtime/clock.ts";
import type { ConversationFilter, ListPosition } from "#database/search/contract.ts";
import type { Fanout } from "#runtime/signals.ts";
import type { Files } from "#files/contract.ts";
import type { Store } from "#database/contract.ts";
import type { BodyLimits } from "./middleware/bodies.ts";
import type { ConversationRow } from "#database/queries/conversations.ts";
import type { ProcessWatch } from "#database/process-heartbeat.ts";

/** All that the HTTP side needs of the rest of the program. */
export interface HttpDependencies {
  readonly store: Store;
  /** This process in the table of those that run. */
  readonly processId: string;
  readonly watch: Pick<ProcessWatch, "silent">;
  readonly engine: Engine;
  readonly fanout: Fanout;
  readonly documents: DocumentService;
  readonly files: Pick<Files, "bytesMax" | "open" | "link" | "ofLink">;
  /** Conversations after `before` in the list's order; full text is among the filters. */
  listConversations(
    filter: ConversationFilter & { readonly text?: string },
    before: ListPosition | undefined,
    limit: number,
  ): Promise<{ readonly rows: readonly ConversationRow[]; readonly hasMore: boolean }>;
  /** By what the workspace's company proves its users; in the clear. */
  tokenKeys(workspaceId: string): Promise<TokenKeys>;
  /** Signs pagination cursors. The same in every process of an installation, at least 16 bytes. */
  readonly cursorKey: Buffer;
  readonly sites: Sites;
  /** `/demo`; absent where there is no demo. */
  readonly demoPage?: () => Promise<WebResponse>;
  /** Asks every dependency for its state; is given `readinessMs` for it. */
  readiness(): Promise<readonly DependencyState[]>;
  /** Proves to who has the installation's secret, by what they have asked with, that it is this one; undefined: not so asked. */
  prove(nonce: unknown): string | undefined;
  readonly metrics: Registry;
  readonly clock: Clock;
  readonly log: Logger;
  readonly options: HttpOptions;
}

/** Bytes on the shelf that belong to no document yet. */
export interface StoredBytes {
  readonly id: string;
  readonly hash: string;
}

/** The part of the documents that the API writes; reading goes to the database. */
export interface DocumentService {
  /** Throws Problem `unsupported_media_type` for what cannot be added. */
  checkType(fileName: string, mediaType: string): void;
  /** Stores bytes as they arrive. Throws Problem `payload_too_large`. */
  receive(bytes: AsyncIterable<Uint8Array>): Promise<StoredBytes>;
  /** Removes bytes of which no document was made. */
  discard(body: StoredBytes): Promise<void>;
  /** Makes a document of what was received, with the work of indexing it. */
  add(document: {
    readonly workspaceId: string;
    readonly fileName: string;
    readonly mediaType?: string;
    readonly body: StoredBytes;
    readonly audience?: readonly string[];
  }): Promise<{ readonly id: string }>;
  crawl(site: {
    readonly workspaceId: string;
    readonly url: string;
    readonly maxPages?: number;
    readonly sitemap?: string;
    readonly audience?: readonly string[];
  }): Promise<{ readonly id: string }>;
  /** Undefined when there is no such document. Throws Problem `not_a_website`. */
  recrawl(workspaceId: string, documentId: string): Promise<{ readonly id: string } | undefined>;
  /** The uploaded files of these names. */
  ofFiles(
    workspaceId: string,
    fileNames: readonly string[],
  ): Promise<readonly { readonly id: string; readonly title: string; readonly indexedAt: number | null }[]>;
  /** False when there is no such document in this workspace. */
  remove(workspaceId: string, documentId: string): Promise<boolean>;
}

/** What accounts serve over HTTP. Undefined where there is nothing of the kind. */
export interface Sites {
  /** `/widget.js`, `/widget/…`: a script that is the same for every workspace, or what `query.workspace` names one for. */
  page(path: string, query: Readonly<Record<string, string>>): Promise<SiteRoute | undefined> | SiteRoute | undefined;
  /** A page of one workspace's account: `/chat/<workspace_id>`. */
  workspacePage(workspaceId: string, path: string): Promise<SiteRoute | undefined> | SiteRoute | undefined;
  socket(workspaceId: string, channel: Channel, path: string): Promise<SiteSocket | undefined> | SiteSocket | undefined;
  uploads(
    workspaceId: string,
    channel: Channel,
    path: string,
  ): Promise<SiteUploads | undefined> | SiteUploads | undefined;
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
  /** As browsers and platforms reach us; without a slash at the end. */
  readonly publicUrl: string;
  readonly version: string;
  /** Opens /metrics; absent: open to neighbours, as long as the public address is not public. */
  readonly metricsToken?: string | undefined;
  /** Addresses and ranges (CIDR) of proxies whose X-Forwarded-For is believed. Empty: nobody's. */
  readonly trustedProxies: readonly string[];
  readonly timeouts: HttpTimeouts;
  readonly bodies: BodyLimits;
  /** Open connections of this process; more are closed at once. */
  readonly connectionsMax: number;
}

/** All in milliseconds. */
export interface HttpTimeouts {
  /** A connection that has not sent a byte by then is closed. */
  readonly firstByteMs: number;
  readonly headersMs: number;
  /** For a whole request with its body. */
  readonly requestMs: number;
  /** For a body that is read as a whole, and the longest silence within one that is read as it comes. */
  readonly bodyMs: number;
  /** How often the two above are looked at. */
  readonly checkMs: number;
  readonly keepAliveMs: number;
  readonly readinessMs: number;
  /** After this, what is still in flight when the program ends is cut off. */
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
