import { isIP } from "node:net";
import twilio from "twilio";
import type { Twilio } from "twilio";
import type { GuardedLookup } from "#channels/http/guarded-connect.ts";
import { allowedAddress, serverOf } from "#channels/http/guarded-connect.ts";
import { DeliveryError } from "#channels/errors.ts";

const timeoutMs = 20_000;
const busyMs = 2_000;

type Request = Parameters<InstanceType<typeof twilio.RequestClient>["request"]>[0];

/** Keeps `Retry-After` of a 429, which the SDK's own HTTP client drops. */
class HttpClient extends twilio.RequestClient {
  readonly #lookup: GuardedLookup;

  constructor(lookup: GuardedLookup) {
    super({ timeout: timeoutMs });
    this.#lookup = lookup;
    if (lookup !== undefined) this.axios.defaults.lookup = async (host: string) => allowedAddress(lookup, host);
  }

  override async request<T>(options: Request & { readonly data?: T }) {
    // IP addresses are not resolved for a connection, so they are checked here.
    const server = serverOf(options.uri);
    if (this.#lookup !== undefined && isIP(server) !== 0) await allowedAddress(this.#lookup, server);
    const response = await super.request<T>(options);
    if (response.statusCode === 429) {
      const headers = response.headers as Readonly<Record<string, unknown>> | undefined;
      const seconds = Number(headers?.["retry-after"]);
      throw new DeliveryError("not_sent", "Twilio limits this account's requests for now", {
        retryAfterMs: Number.isFinite(seconds) && seconds > 0 ? seconds * 1_000 : busyMs,
      });
    }
    return response;
  }
}

/** A client without retries of its own: only the caller knows whether a retry is safe. */
export function createClient({ accountSid, authToken, baseUrl }: Account, lookup?: GuardedLookup): Twilio {
  const client = twilio(accountSid, authToken, {
    httpClient: new HttpClient(lookup),
    // Environment variables must not redirect this account's requests.
    env: {},
  });
  if (baseUrl !== undefined) {
    client.api.baseUrl = baseUrl;
    client.messaging.baseUrl = baseUrl;
  }
  return client;
}

const stopped = "the program stopped during a request to Twilio";
const late = "Twilio did not answer in time";
const isLate = ({ reason }: AbortSignal): boolean => reason instanceof DOMException && reason.name === "TimeoutError";

/** Rejects with outcome `unknown` when `signal` aborts first: the SDK cannot abort a request. */
export async function unlessAborted<T>(call: Promise<T>, signal: AbortSignal): Promise<T> {
  let stop: (() => void) | undefined;
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(new DeliveryError("unknown", isLate(signal) ? late : stopped));
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) stop();
  });
  try {
    return await Promise.race([call, aborted]);
  } finally {
    if (stop !== undefined) signal.removeEventListener("abort", stop);
    // The loser of the race must not become an unhandled rejection.
    aborted.catch(() => undefined);
    call.catch(() => undefined);
  }
}

export interface Account {
  readonly accountSid: string;
  readonly authToken: string;
  readonly baseUrl: string | undefined;
}
