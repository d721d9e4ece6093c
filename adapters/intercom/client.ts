import { IntercomClient } from "intercom-client";
import type { ChannelHost } from "#channels/contract.ts";
import { createServerFetch } from "#channels/http/guarded-connect.ts";
import { DeliveryError } from "#channels/errors.ts";
import { BrokenConnection, deliveryError, limitOf, statusOf } from "./errors.ts";
import type { Settings } from "./config.ts";

const timeoutS = 20;
/** Limits a whole response: the SDK's own timeout ends with the headers. */
const wholeAnswerMs = 30_000;
/** The pause of the whole account after a refused token. */
const refusedMs = 60_000;

export interface Api {
  /** Makes a request, unless the account is paused by a limit or a refused token. Throws {@link DeliveryError}. */
  call<T>(make: (client: IntercomClient) => Promise<T>): Promise<T>;
}

/**
 * A client without retries of its own: only the caller knows whether a retry is safe. Intercom's rate limit is per app, so
 * one limited request pauses all conversations.
 */
export function createApi(
  settings: Pick<Settings, "accessToken" | "baseUrl">,
  { clock, lookup }: Pick<ChannelHost, "clock" | "lookup">,
): Api {
  const client = new IntercomClient({
    token: settings.accessToken,
    baseUrl: settings.baseUrl,
    maxRetries: 0,
    timeoutInSeconds: timeoutS,
    version: "2.14",
    fetch: fetchWithCode(createServerFetch(lookup)),
  });
  let paused: { readonly until: number; readonly cause: DeliveryError } | undefined;

  return {
    async call(make) {
      if (paused !== undefined && paused.until > clock.now()) {
        throw new DeliveryError("not_sent", paused.cause.message, { retryAfterMs: paused.until - clock.now() });
      }
      try {
        return await make(client);
      } catch (error) {
        const failure = deliveryError(error, clock);
        const wait = limitOf(error, clock) ?? (statusOf(error) === 401 ? refusedMs : undefined);
        if (wait !== undefined) paused = { until: clock.now() + wait, cause: failure };
        throw failure;
      }
    },
  };
}

const fetchWithCode =
  (send: typeof fetch): typeof fetch =>
  async (input, init) => {
    const whole = AbortSignal.timeout(wholeAnswerMs);
    const { signal } = init ?? {};
    try {
      return await send(input, {
        ...init,
        signal: signal === null || signal === undefined ? whole : AbortSignal.any([signal, whole]),
      });
    } catch (error) {
      throw new BrokenConnection(error);
    }
  };
