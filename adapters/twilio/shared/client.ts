import twilio from "twilio";
import type { Twilio } from "twilio";
import { DeliveryError } from "#channels/errors.ts";

const timeoutMs = 20_000;
const busyMs = 2_000;

type Request = Parameters<InstanceType<typeof twilio.RequestClient>["request"]>[0];

/** The SDK's own client, which forgets what Twilio says of when to come again. */
class Calls extends twilio.RequestClient {
  override async request<T>(options: Request & { readonly data?: T }) {
    const response = await super.request<T>(options);
    if (response.statusCode === 429) {
      const headers = response.headers as Readonly<Record<string, unknown>> | undefined;
      const seconds = Number(headers?.["retry-after"]);
      throw new DeliveryError("not_sent", "Twilio takes no more requests of this account for now", {
        retryAfterMs: Number.isFinite(seconds) && seconds > 0 ? seconds * 1_000 : busyMs,
      });
    }
    return response;
  }
}

/** Never tries anything again by itself: whoever calls knows whether that is harmless. */
export function createClient({ accountSid, authToken, baseUrl }: Account): Twilio {
  const client = twilio(accountSid, authToken, {
    httpClient: new Calls({ timeout: timeoutMs }),
    // Nothing of the environment may send this account elsewhere.
    env: {},
  });
  if (baseUrl !== undefined) {
    client.api.baseUrl = baseUrl;
    client.messaging.baseUrl = baseUrl;
  }
  return client;
}

const stopped = "the program stopped while Twilio was asked";
const late = "Twilio did not answer in time";
const isLate = ({ reason }: AbortSignal): boolean => reason instanceof DOMException && reason.name === "TimeoutError";

/** The SDK cannot be told to stop. */
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
    // Whoever has lost the race is waited for by nobody.
    aborted.catch(() => undefined);
    call.catch(() => undefined);
  }
}

export interface Account {
  readonly accountSid: string;
  readonly authToken: string;
  readonly baseUrl: string | undefined;
}
