import { lookup as systemLookup } from "node:dns/promises";
import { isIP } from "node:net";
import type { LookupFunction } from "node:net";
import { Agent, buildConnector, fetch as send } from "undici";
import type { AllowPrivate } from "./addresses.ts";
import { createAddressCheck } from "./addresses.ts";

/** Requests to addresses chosen by others: webhook endpoints and pages to crawl. */
export interface GuardedFetch {
  /**
   * Sends one request. Redirects are not followed, but returned. Throws {@link RefusedAddress} where the URL or a resolved
   * address is not allowed, and {@link OutboundFailure} without an answer.
   */
  fetch(url: string, request: OutboundRequest): Promise<OutboundResponse>;
  close(): Promise<void>;
}

export interface OutboundRequest {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array<ArrayBuffer>;
  /** Limit for the whole request, including the body. */
  readonly timeoutMs: number;
  /** Limit of the decompressed body. */
  readonly bytesMax: number;
  readonly signal?: AbortSignal;
}

export interface OutboundResponse {
  readonly status: number;
  readonly headers: Headers;
  /** At most `bytesMax` bytes. */
  readonly body: Uint8Array<ArrayBuffer>;
  /** False: the body is longer than `bytesMax`. */
  readonly complete: boolean;
}

/** The address is not allowed. The message is for the person who entered it. */
export class RefusedAddress extends Error {
  override readonly name = "RefusedAddress";
  /** For callers that get it from a library's error. */
  readonly code = "ADDRESS_REFUSED";
}

/** No answer came. The message is for the person who entered the address, and gives no further details. */
export class OutboundFailure extends Error {
  override readonly name = "OutboundFailure";
  readonly reason: "timeout" | "unknown_host" | "refused" | "tls" | "broken";

  constructor(reason: OutboundFailure["reason"], message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}

export interface GuardOptions {
  readonly allowPrivate: AllowPrivate;
  /** Replaces the system's resolver. */
  readonly resolve?: (host: string) => Promise<readonly { readonly address: string; readonly family: number }[]>;
}

const headerBytesMax = 32_768;

/** Resolves a name for a connection. Refuses it when one of its addresses is not allowed. */
export function createGuardedLookup({ allowPrivate, resolve }: GuardOptions): LookupFunction {
  const isAllowed = createAddressCheck(allowPrivate);
  const resolveAll = resolve ?? ((host: string) => systemLookup(host, { all: true, order: "verbatim" }));
  return (host, { all }, callback) => {
    resolveAll(host).then(
      (found) => {
        const [first] = found;
        const bad = found.find(({ address }) => !isAllowed(address));
        if (first === undefined)
          callback(Object.assign(new Error("no address"), { code: "ENOTFOUND", syscall: "getaddrinfo" }), "");
        else if (bad !== undefined) callback(refusal(bad.address), "");
        else if (all === true) callback(null, [...found]);
        else callback(null, first.address, first.family);
      },
      (error: NodeJS.ErrnoException) => callback(error, ""),
    );
  };
}

/**
 * Checks all resolved addresses at each connection, so that a name that resolves differently the second time cannot evade
 * the check. Proxies of the environment are not used.
 */
export function openGuardedFetch(guard: GuardOptions): GuardedFetch {
  const isAllowed = createAddressCheck(guard.allowPrivate);
  const lookup = createGuardedLookup(guard);
  const connectTo = buildConnector({ lookup, timeout: 10_000, allowH2: false });
  const agent = new Agent({
    connect: (options, callback) => {
      const host = options.hostname.replace(/^\[|\]$/g, "");
      // IP addresses are not resolved, so they are checked here.
      if (isIP(host) !== 0 && !isAllowed(host)) callback(refusal(host), null);
      else connectTo(options, callback);
    },
    maxHeaderSize: headerBytesMax,
    keepAliveTimeout: 4_000,
    connections: 16,
  });

  return {
    async fetch(url, { method = "GET", headers = {}, body = null, timeoutMs, bytesMax, signal }) {
      const target = parse(url);
      const timeout = AbortSignal.timeout(timeoutMs);
      const either = signal === undefined ? timeout : AbortSignal.any([timeout, signal]);
      try {
        const response = await send(target, {
          method,
          headers,
          body,
          signal: either,
          redirect: "manual",
          dispatcher: agent,
        });
        const { bytes, complete } = await readUpTo(response.body, bytesMax);
        return { status: response.status, headers: new Headers([...response.headers]), body: bytes, complete };
      } catch (error) {
        if (signal?.aborted === true) throw signal.reason;
        throw failureOf(error, target.hostname, timeout.aborted, timeoutMs);
      }
    },
    close: () => agent.destroy(),
  };
}

function parse(url: string): URL {
  const target = URL.parse(url);
  if (target === null) throw new RefusedAddress("this is not a URL; it begins with https:// or http://");
  if (target.protocol !== "https:" && target.protocol !== "http:")
    throw new RefusedAddress("only https:// and http:// addresses can be reached");
  if (target.username !== "" || target.password !== "")
    throw new RefusedAddress("a user name or password in the URL is not sent; leave it out");
  return target;
}

function refusal(address: string): RefusedAddress {
  return new RefusedAddress(
    `${address} is not a public address; the operator can allow it in the configuration file, under outbound.allow_private`,
  );
}

async function readUpTo(
  body: ReadableStream<Uint8Array> | AsyncIterable<Uint8Array> | null,
  bytesMax: number,
): Promise<{ readonly bytes: Uint8Array<ArrayBuffer>; readonly complete: boolean }> {
  const parts: Uint8Array[] = [];
  let length = 0;
  // Leaving the loop early cancels the stream, and with it the connection.
  for await (const part of body ?? []) {
    const room = bytesMax - length;
    parts.push(part.subarray(0, room));
    length += Math.min(part.byteLength, room);
    if (part.byteLength > room) return { bytes: joined(parts, length), complete: false };
  }
  return { bytes: joined(parts, length), complete: true };
}

function joined(parts: readonly Uint8Array[], length: number): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.byteLength;
  }
  return whole;
}

function failureOf(error: unknown, host: string, timedOut: boolean, timeoutMs: number): Error {
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof RefusedAddress) return cause;
  }
  // The client refuses ports of other protocols.
  if (error instanceof Error && error.cause instanceof Error && error.cause.message === "bad port")
    return new RefusedAddress("this port is not one of the web's");
  const options = { cause: error };
  if (timedOut) return new OutboundFailure("timeout", `${host} gave no answer within ${timeoutMs / 1000} s`, options);
  const code = codeOf(error);
  if (code === "ENOTFOUND" || code === "EAI_AGAIN")
    return new OutboundFailure("unknown_host", `the name ${host} cannot be resolved`, options);
  if (code === "ECONNREFUSED" || code === "EHOSTUNREACH" || code === "ENETUNREACH")
    return new OutboundFailure("refused", `${host} takes no connections`, options);
  if (code === "UND_ERR_CONNECT_TIMEOUT" || code === "ETIMEDOUT")
    return new OutboundFailure("timeout", `${host} takes no connections`, options);
  if (/CERT|TLS|SSL|SELF_SIGNED|UNABLE_TO_/.test(code))
    return new OutboundFailure("tls", `no secure connection to ${host} could be made (${code})`, options);
  return new OutboundFailure("broken", `the connection to ${host} broke${code === "" ? "" : ` (${code})`}`, options);
}

function codeOf(error: unknown): string {
  let code = "";
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const { code: own } = cause as { readonly code?: unknown };
    if (typeof own === "string") code = own;
    // All addresses of the name failed.
    if (cause instanceof AggregateError) return codeOf(cause.errors[0]) || code;
  }
  return code;
}
