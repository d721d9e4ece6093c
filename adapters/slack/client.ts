import type { Logger, WebClientOptions } from "@slack/web-api";
import { LogLevel, WebClient } from "@slack/web-api";
import type { Log } from "#runtime/log.ts";
import { createPlatformFetch } from "#channels/http/platform-fetch.ts";

export const slackApiUrl = "https://slack.com/api";

export interface SlackApi {
  /** Where the Web API is; without a slash at the end. */
  readonly baseUrl: string;
  /**
   * A client whose calls end with `signal`. It never calls twice by itself: a 5xx may come after the message was posted,
   * and a 429 of one channel would hold every other. Errors are put in words by `failureOf`.
   */
  client(signal?: AbortSignal): WebClient;
  /** A client whose calls end after so many milliseconds. */
  within(ms: number): WebClient;
  /** A fetch with the bot's token. Only for addresses that `isSlackAddress` accepts. */
  fetchFile(url: string, signal: AbortSignal): Promise<Response>;
}

const timeoutMs = 10_000;

/** The client's own options, for the Web API and for Socket Mode alike. */
export function clientOptions(baseUrl: string): WebClientOptions {
  return {
    slackApiUrl: `${baseUrl}/`,
    retryConfig: { retries: 0 },
    rejectRateLimitedCalls: true,
    timeout: timeoutMs,
    allowAbsoluteUrls: false,
    // Nothing is gained by waiting in line: what may be sent when is the outbox's to decide.
    maxRequestConcurrency: 1_000,
  };
}

export function createSlackApi(token: string, baseUrl: string, log: Log): SlackApi {
  const send = createPlatformFetch();
  const create = (timeoutAfterMs: number, signal?: AbortSignal): WebClient =>
    new WebClient(token, {
      ...clientOptions(baseUrl),
      logger: sdkLogger(log),
      // The calls have their time limit from below.
      timeout: 0,
      fetch: (url, { method, headers, body } = {}) => {
        if (typeof body === "object") throw new Error("files are sent to Slack without its client");
        return send(String(url), { method, headers, body, signal, timeoutMs: timeoutAfterMs });
      },
    });
  const unbound = create(timeoutMs);
  // To make one takes as long as a call, and one signal stands behind everything that the outbox sends.
  const bound = new WeakMap<AbortSignal, WebClient>();
  const limited = new Map<number, WebClient>();
  return {
    baseUrl,
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
    fetchFile: (url, signal) =>
      fetch(url, { headers: { authorization: `Bearer ${token}` }, redirect: "manual", signal }),
  };
}

const slackHosts = /(?:^|\.)(?:slack\.com|slack-gov\.com|slack-files\.com)$/;

/** Whether the address is one of Slack's own servers, or of the server that stands for them: others never see a token. */
export function isSlackAddress(address: string, baseUrl: string): boolean {
  const url = URL.parse(address);
  if (url === null || url.username !== "" || url.password !== "") return false;
  if (url.origin === new URL(baseUrl).origin) return true;
  return url.protocol === "https:" && url.port === "" && slackHosts.test(url.hostname);
}

/**
 * The SDK's own log says with every call what is in it, and writes to the console by default. Of what it says only
 * warnings are of interest, and those without the addresses in them.
 */
export function sdkLogger(log: Log): Logger {
  const nothing = (): void => undefined;
  const tell = (...said: unknown[]): void => {
    const text = said.map((each) => (each instanceof Error ? each.message : String(each))).join(" ");
    log.debug({ said: withoutCredentials(text).slice(0, 500) }, "slack: client message");
  };
  return {
    debug: nothing,
    info: nothing,
    warn: tell,
    error: tell,
    setLevel: nothing,
    getLevel: () => LogLevel.WARN,
    setName: nothing,
  };
}

/** Tokens, and addresses: the one of a socket lets whoever has it connect. */
export function withoutCredentials(text: string): string {
  return text.replaceAll(/\b(?:https?|wss?):\/\/\S+/g, "…").replaceAll(/\bx(?:ox|app)[a-z0-9.]*-[A-Za-z0-9-]+/g, "…");
}
