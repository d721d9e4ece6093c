import type { Logger, WebClientOptions } from "@slack/web-api";
import { LogLevel, WebClient } from "@slack/web-api";
import type { Log } from "#runtime/log.ts";
import type { GuardedLookup } from "#channels/http/guarded-connect.ts";
import { createServerFetch } from "#channels/http/guarded-connect.ts";
import { createPlatformFetch } from "#channels/http/platform-fetch.ts";

export const slackApiUrl = "https://slack.com/api";

export interface SlackApi {
  /** The URL of the Web API, without a slash at the end. */
  readonly baseUrl: string;
  /**
   * A client whose calls end with `signal`. It never retries: a 5xx may come after the message was posted, and a 429 of
   * one channel would block all others. `failureOf` translates its errors.
   */
  client(signal?: AbortSignal): WebClient;
  /** A client whose calls end after `ms` milliseconds. */
  within(ms: number): WebClient;
  /** A fetch without the token, of answers' addresses. */
  readonly fetch: typeof fetch;
  /** Posts to a delivery's response URL, without the token. Resolves to the HTTP status. */
  respond(url: string, message: object, signal: AbortSignal): Promise<number>;
  /** A fetch with the bot's token. Only for addresses that `isSlackAddress` accepts. */
  fetchFile(url: string, signal: AbortSignal): Promise<Response>;
}

const timeoutMs = 10_000;

/** The client's options, for the Web API and for Socket Mode. */
export function clientOptions(baseUrl: string): WebClientOptions {
  return {
    slackApiUrl: `${baseUrl}/`,
    retryConfig: { retries: 0 },
    rejectRateLimitedCalls: true,
    timeout: timeoutMs,
    allowAbsoluteUrls: false,
    // The outbox limits concurrency.
    maxRequestConcurrency: 1_000,
  };
}

/** `token`: undefined for calls that need none. */
export function createSlackApi(token: string | undefined, baseUrl: string, log: Log, lookup?: GuardedLookup): SlackApi {
  const send = createPlatformFetch(lookup);
  const fetchPlain = createServerFetch(lookup);
  const create = (timeoutAfterMs: number, signal?: AbortSignal): WebClient =>
    new WebClient(token, {
      ...clientOptions(baseUrl),
      logger: sdkLogger(log),
      // The calls are limited by their signals.
      timeout: 0,
      fetch: (url, { method, headers, body } = {}) => {
        if (typeof body === "object") throw new Error("files are sent to Slack without its client");
        return send(String(url), { method, headers, body, signal, timeoutMs: timeoutAfterMs });
      },
    });
  const unbound = create(timeoutMs);
  // Creating a client takes as long as a call, and the outbox uses one signal for all its messages.
  const bound = new WeakMap<AbortSignal, WebClient>();
  const limited = new Map<number, WebClient>();
  return {
    baseUrl,
    fetch: fetchPlain,
    client(signal) {
      if (signal === undefined) return unbound;
      let client = bound.get(signal);
      if (client === undefined) bound.set(signal, (client = create(timeoutMs, signal)));
      return client;
    },
    within(ms) {
      let client = limited.get(ms);
      if (client === undefined) limited.set(ms, (client = create(ms)));
      return client;
    },
    async respond(url, message, signal) {
      const headers = { "content-type": "application/json" };
      const body = JSON.stringify(message);
      const response = await fetchPlain(url, { method: "POST", headers, body, redirect: "manual", signal });
      await response.body?.cancel();
      return response.status;
    },
    fetchFile: (url, signal) =>
      fetchPlain(url, { headers: { authorization: `Bearer ${token ?? ""}` }, redirect: "manual", signal }),
  };
}

const slackHosts = /(?:^|\.)(?:slack\.com|slack-gov\.com|slack-files\.com)$/;

/** Whether the address belongs to Slack or to `base_url`. Other servers must never receive a token. */
export function isSlackAddress(address: string, baseUrl: string): boolean {
  const url = URL.parse(address);
  if (url === null || url.username !== "" || url.password !== "") return false;
  if (url.origin === new URL(baseUrl).origin) return true;
  return url.protocol === "https:" && url.port === "" && slackHosts.test(url.hostname);
}

/** The SDK logs the content of every call to the console by default. Only its warnings are kept, without addresses. */
export function sdkLogger(log: Log): Logger {
  const nothing = (): void => undefined;
  const logMessage = (...values: unknown[]): void => {
    const text = values.map((each) => (each instanceof Error ? each.message : String(each))).join(" ");
    log.debug({ said: withoutCredentials(text).slice(0, 500) }, "slack: client message");
  };
  return {
    debug: nothing,
    info: nothing,
    warn: logMessage,
    error: logMessage,
    setLevel: nothing,
    getLevel: () => LogLevel.WARN,
    setName: nothing,
  };
}

/** Removes tokens and addresses. A socket's address permits anyone to connect. */
export function withoutCredentials(text: string): string {
  return text.replaceAll(/\b(?:https?|wss?):\/\/\S+/g, "…").replaceAll(/\bx(?:ox|app)[a-z0-9.]*-[A-Za-z0-9-]+/g, "…");
}
