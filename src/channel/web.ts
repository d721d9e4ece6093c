import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";

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
