import type { Selectable } from "kysely";
import type { Clock } from "#runtime/clock.ts";
import type { WebhooksTable } from "#database/schema/webhooks.ts";
import type { GuardedFetch } from "#outbound/guarded-fetch.ts";
import { OutboundFailure, RefusedAddress } from "#outbound/guarded-fetch.ts";
import { retryAfterMs } from "./retry.ts";
import { signedHeaders } from "./signature.ts";

export type Endpoint = Selectable<WebhooksTable>;

export interface PostDependencies {
  readonly clock: Clock;
  readonly guardedFetch: GuardedFetch;
  /** Decrypts a secret. */
  readonly open: (sealed: string) => string;
}

/** The outcome of one attempt. */
export interface Posted {
  readonly delivered: boolean;
  readonly at: number;
  readonly durationMs: number;
  /** HTTP status; null without an answer. */
  readonly status: number | null;
  /** Why the attempt failed; null where it succeeded. */
  readonly error: string | null;
  /** The beginning of the answer's body. */
  readonly response: string | null;
  /** Lines of `name: value`; the response has none without an answer. */
  readonly requestHeaders: string;
  readonly responseHeaders: string | null;
  readonly retryAfterMs: number | null;
}

const timeoutMs = 15_000;
/** Ends an attempt where the clock's own limit does not. */
const timeoutLastMs = timeoutMs + 5_000;
const responseBytesMax = 1_024;
const headerCharactersMax = 4_000;

/** Sends an event once. Rejects only when `signal` aborts, or where the secret cannot be decrypted. */
export async function post(
  { clock, guardedFetch, open }: PostDependencies,
  endpoint: Endpoint,
  event: { readonly id: string; readonly payload: string },
  signal: AbortSignal,
): Promise<Posted> {
  const at = clock.now();
  const sealed = [endpoint.secret];
  if (endpoint.previous_secret !== null && (endpoint.previous_until ?? 0) > at) sealed.push(endpoint.previous_secret);
  const headers = {
    "content-type": "application/json",
    "user-agent": "Parley",
    ...signedHeaders(sealed.map(open), { id: event.id, at, body: event.payload }),
  };
  const late = new AbortController();
  const stop = clock.timer(timeoutMs, () =>
    late.abort(new OutboundFailure("timeout", `there was no answer within ${timeoutMs / 1_000} s`)),
  );
  const result = (found: Partial<Posted>): Posted => ({
    delivered: false,
    at,
    durationMs: clock.now() - at,
    status: null,
    error: null,
    response: null,
    requestHeaders: linesOf(Object.entries(headers)),
    responseHeaders: null,
    retryAfterMs: null,
    ...found,
  });
  try {
    const answer = await guardedFetch.fetch(endpoint.url, {
      method: "POST",
      headers,
      body: event.payload,
      timeoutMs: timeoutLastMs,
      bytesMax: responseBytesMax,
      signal: AbortSignal.any([signal, late.signal]),
    });
    const { status } = answer;
    const delivered = status >= 200 && status < 300;
    return result({
      delivered,
      status,
      error: delivered ? null : refusalOf(status),
      response: printable(new TextDecoder().decode(answer.body)),
      responseHeaders: linesOf(answer.headers),
      retryAfterMs: retryAfterMs(status, answer.headers.get("retry-after"), clock.now()),
    });
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof RefusedAddress) && !(error instanceof OutboundFailure)) throw error;
    return result({ error: error.message });
  } finally {
    stop();
  }
}

function refusalOf(status: number): string {
  if (status >= 300 && status < 400) return `the endpoint answered ${status}: redirects are not followed`;
  return `the endpoint answered ${status}`;
}

/** Makes a response storable as text. */
function printable(text: string): string {
  // oxlint-disable-next-line no-control-regex -- databases may refuse the zero character.
  return text.replaceAll("\u0000", "\uFFFD");
}

function linesOf(headers: Iterable<readonly [name: string, value: string]>): string {
  // A cookie would let whoever reads the log act as the program at the endpoint.
  const lines = [...headers].filter(([name]) => name !== "set-cookie").map(([name, value]) => `${name}: ${value}`);
  return printable(lines.join("\n").slice(0, headerCharactersMax));
}
