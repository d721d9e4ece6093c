import type { Readable } from "node:stream";
import { promisify } from "node:util";
import { brotliDecompress, gunzip, inflate, inflateRaw, zstdDecompress } from "node:zlib";
import type { Dispatcher } from "undici";
import type { GuardedLookup } from "./guarded-connect.ts";
import { createAgent, refusalIn } from "./guarded-connect.ts";

/** The request options that the platforms' SDKs use. */
export interface PlatformRequest {
  readonly method?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: string | Uint8Array | Readable | null | undefined;
  readonly signal?: AbortLike | undefined;
  /** For the whole of the call, the connection and the answer included; absent: as long as it takes. */
  readonly timeoutMs?: number | undefined;
}

/** An AbortSignal, of Node.js or of a polyfill. */
export interface AbortLike {
  readonly aborted: boolean;
  addEventListener(type: "abort", listener: () => void): void;
  removeEventListener(type: "abort", listener: () => void): void;
}

/** The response members that the SDKs read. The body is complete. */
export interface PlatformResponse {
  readonly ok: boolean;
  readonly status: number;
  readonly statusText: string;
  readonly url: string;
  readonly headers: PlatformHeaders;
  text(): Promise<string>;
  json(): Promise<unknown>;
  arrayBuffer(): Promise<ArrayBuffer>;
}

export interface PlatformHeaders {
  get(name: string): string | null;
  entries(): Iterable<[string, string]>;
}

export type PlatformFetch = (url: string, request: PlatformRequest) => Promise<PlatformResponse>;

/** More than any regular answer of a platform. */
const bytesMax = 32 * 1_048_576;
const tooLarge = "the answer is larger than any of this platform's";
/** Idle connections are reused up to this age, since platforms close theirs without notice. */
const keepAliveMs = 4_000;

/**
 * Calls of a platform's API for its SDK. `fetch` itself makes streams, signals and copies for each call, which takes
 * three times the processor and twice the memory; an SDK that asks for text needs none of them. Nothing is asked twice,
 * and no redirect is followed. Without a lookup only for addresses that the operator has given.
 */
export function createPlatformFetch(lookup?: GuardedLookup): PlatformFetch {
  const agent = createAgent(lookup, { keepAliveTimeout: keepAliveMs, allowH2: false });
  return (url, { method = "GET", headers = {}, body = null, signal, timeoutMs }) =>
    new Promise((resolve, reject) => {
      const { origin, pathname, search } = new URL(url);
      let controller: Dispatcher.DispatchController | undefined;
      let over = false;
      const timer =
        timeoutMs === undefined
          ? undefined
          : setTimeout(() => fail(timeoutError(controller !== undefined, timeoutMs)), timeoutMs);
      signal?.addEventListener("abort", giveUp);

      function end(): void {
        over = true;
        clearTimeout(timer);
        signal?.removeEventListener("abort", giveUp);
      }
      function fail(error: Error): void {
        if (over) return;
        end();
        controller?.abort(error);
        reject(error);
      }
      function giveUp(): void {
        fail(new Error("the call was given up"));
      }

      if (signal?.aborted === true) {
        giveUp();
        return;
      }
      let status = 0;
      let statusText = "";
      let received: ReceivedHeaders = {};
      const parts: Buffer[] = [];
      let length = 0;
      agent.dispatch(
        { origin, path: pathname + search, method, headers, body },
        {
          onRequestStart(given) {
            controller = given;
            // It was given up while it waited for a connection: it is not sent.
            if (over) given.abort(new Error("the call was given up"));
          },
          onResponseStart(_controller, code, given, message = "") {
            status = code;
            statusText = message;
            received = given;
          },
          onResponseData(_controller, part) {
            parts.push(part);
            length += part.length;
            if (length > bytesMax) fail(new Error(tooLarge));
          },
          onResponseEnd() {
            if (over) return;
            end();
            unpacked(Buffer.concat(parts, length), headerOf(received, "content-encoding")).then(
              (bytes) => resolve(responseOf({ url, status, statusText, received, bytes })),
              reject,
            );
          },
          onResponseError(_controller, error) {
            fail(controller === undefined ? new NeverSent(error) : error);
          },
        },
      );
    });
}

type ReceivedHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

const headerOf = (received: ReceivedHeaders, name: string): string | null => {
  const value = received[name];
  return value === undefined ? null : typeof value === "string" ? value : value.join(", ");
};

type Unpack = (bytes: Buffer, options: { readonly maxOutputLength: number }) => Promise<Buffer>;

const [unzlib, unraw] = [promisify(inflate), promisify(inflateRaw)];

/** Proxies between the program and a platform compress answers without a request for it. */
const unpackers: ReadonlyMap<string, Unpack> = new Map<string, Unpack>([
  ["gzip", promisify(gunzip)],
  ["x-gzip", promisify(gunzip)],
  // With the head that the standard asks for, or without it, as some send it.
  ["deflate", (bytes, options) => (((bytes[0] ?? 0) & 0x0f) === 8 ? unzlib : unraw)(bytes, options)],
  ["br", promisify(brotliDecompress)],
  ["zstd", promisify(zstdDecompress)],
]);
const packingsMax = 3;

async function unpacked(bytes: Buffer, encoding: string | null): Promise<Buffer> {
  const packings = (encoding ?? "")
    .split(",")
    .map((each) => each.trim().toLowerCase())
    .filter((each) => each !== "" && each !== "identity");
  if (packings.length === 0 || bytes.length === 0) return bytes;
  let plain = bytes;
  for (const packing of packings.toReversed()) {
    const unpack = unpackers.get(packing);
    if (unpack === undefined || packings.length > packingsMax) {
      throw new Error(
        `the answer is packed in a way that nobody asked for (content-encoding: ${encoding?.slice(0, 60)})`,
      );
    }
    try {
      plain = await unpack(plain, { maxOutputLength: bytesMax });
    } catch (error) {
      const isLarge = (error as { readonly code?: unknown }).code === "ERR_BUFFER_TOO_LARGE";
      throw new Error(isLarge ? tooLarge : `the answer is not what it says it is (content-encoding: ${packing})`, {
        cause: error,
      });
    }
  }
  return plain;
}

function timeoutError(begun: boolean, timeoutMs: number): Error {
  const error = new Error(`there was no answer within ${timeoutMs / 1_000} s`);
  // The caller may need to know that nothing was sent.
  return begun ? error : Object.assign(error, { code: "UND_ERR_CONNECT_TIMEOUT" });
}

function responseOf({
  url,
  status,
  statusText,
  received,
  bytes,
}: {
  readonly url: string;
  readonly status: number;
  readonly statusText: string;
  readonly received: ReceivedHeaders;
  readonly bytes: Buffer;
}): PlatformResponse {
  return {
    ok: status >= 200 && status < 300,
    status,
    statusText,
    url,
    headers: {
      get: (name) => headerOf(received, name.toLowerCase()),
      entries: () => Object.keys(received).map((name) => [name, headerOf(received, name) ?? ""]),
    },
    text: async () => bytes.toString("utf8"),
    json: async () => JSON.parse(bytes.toString("utf8")) as unknown,
    arrayBuffer: async () => Uint8Array.from(bytes).buffer,
  };
}

/**
 * System calls that fail before anything is sent. The error's code alone is ambiguous: a lost network also ends open
 * connections with EHOSTUNREACH.
 */
const beforeSending: ReadonlySet<unknown> = new Set(["connect", "getaddrinfo"]);

/** The connection failed before the request: by its name, its address, its certificate or its TLS. */
class NeverSent extends Error {
  constructor(cause: unknown) {
    super(cause instanceof Error ? cause.message : "no connection", { cause });
    this.name = "NeverSent";
  }
}

/** How Node.js and OpenSSL name what is wrong with a certificate, or with an answer that is no TLS. */
const tlsCodes = /CERT|SELF_SIGNED|ALTNAME|UNABLE_TO_VERIFY|^ERR_SSL_(?:WRONG_VERSION|PACKET_LENGTH|HTTP_REQUEST)/;
const beforeTls =
  /before secure TLS connection was established|SSL routines:[^:]*:(?:wrong version number|packet length too long|http request)/;

export interface ConnectionFailure {
  /** No connection was made, so nothing was sent. */
  readonly unsent: boolean;
  /** The system's own name for it; undefined where it has none. */
  readonly code: string | undefined;
  /** The server may not be connected to: the reason, for the administrator. */
  readonly refusal?: string;
}

/** `fetch` and the SDKs hide the system's error below their own; with several addresses tried, below one more. */
export function connectionFailure(error: unknown): ConnectionFailure {
  const refusal = refusalIn(error);
  if (refusal !== undefined) return { unsent: true, code: undefined, refusal };
  let code: string | undefined;
  for (let at = error, depth = 0; at instanceof Error && depth < 6; depth += 1) {
    if ("code" in at && typeof at.code === "string" && /^[A-Z0-9_]{3,60}$/.test(at.code)) code = at.code;
    if (at instanceof NeverSent) return { unsent: true, code: connectionFailure(at.cause).code };
    if (code === "UND_ERR_CONNECT_TIMEOUT" || (code !== undefined && tlsCodes.test(code)))
      return { unsent: true, code };
    if (beforeTls.test(at.message)) return { unsent: true, code };
    if ("syscall" in at && typeof at.syscall === "string") return { unsent: beforeSending.has(at.syscall), code };
    at = at instanceof AggregateError && at.errors.length > 0 ? at.errors[0] : at.cause;
  }
  return { unsent: false, code };
}
