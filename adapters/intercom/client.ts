import { IntercomClient } from "intercom-client";
import type { ChannelHost } from "#channels/contract.ts";
import { DeliveryError } from "#channels/errors.ts";
import { Broken, deliveryError, limitOf, statusOf } from "./errors.ts";
import type { Settings } from "./config.ts";

const timeoutS = 20;
/** The SDK stops its watch when the head of an answer is there. */
const wholeAnswerMs = 30_000;
/** A token that was refused is tried again after this. */
const refusedMs = 60_000;

export interface Api {
  /** Makes a call, unless Intercom wants to be left in peace. Throws {@link DeliveryError}. */
  call<T>(make: (client: IntercomClient) => Promise<T>): Promise<T>;
}

/**
 * Never tries anything again by itself: whoever calls knows whether that is harmless. Intercom counts the requests of the
 * whole app, so what it refuses to one conversation all of them wait for.
 */
export function createApi(
  settings: Pick<Settings, "accessToken" | "baseUrl">,
  { clock }: Pick<ChannelHost, "clock">,
): Api {
  const client = new IntercomClient({
    token: settings.accessToken,
    baseUrl: settings.baseUrl,
    maxRetries: 0,
    timeoutInSeconds: timeoutS,
    version: "2.14",
    fetch: fetchWithCode,
  });
  let held: { readonly until: number; readonly why: DeliveryError } | undefined;

  return {
    async call(make) {
      if (held !== undefined && held.until > clock.now()) {
        throw new DeliveryError("not_sent", held.why.message, { retryAfterMs: held.until - clock.now() });
      }
      try {
        return await make(client);
      } catch (error) {
        const failure = deliveryError(error, clock);
        const wait = limitOf(error, clock) ?? (statusOf(error) === 401 ? refusedMs : undefined);
        if (wait !== undefined) held = { until: clock.now() + wait, why: failure };
        throw failure;
      }
    },
  };
}

const fetchWithCode: typeof fetch = async (input, init) => {
  const whole = AbortSignal.timeout(wholeAnswerMs);
  const { signal } = init ?? {};
  try {
    return await fetch(input, {
      ...init,
      signal: signal === null || signal === undefined ? whole : AbortSignal.any([signal, whole]),
    });
  } catch (error) {
    throw new Broken(error);
  }
};
