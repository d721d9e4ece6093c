import { isIP } from "node:net";
import type { LookupFunction } from "node:net";
import { Agent, buildConnector, fetch as send } from "undici";

/** The resolver of an account whose servers are checked; undefined: they are not. */
export type GuardedLookup = LookupFunction | undefined;

const refusedCode = "ADDRESS_REFUSED";

/** The text for the administrator when a guarded lookup has refused the server. SDKs hide it below their own errors. */
export function refusalIn(error: unknown): string | undefined {
  let at = error;
  for (let depth = 0; at instanceof Error && depth < 8; depth += 1) {
    if ("code" in at && at.code === refusedCode) return at.message;
    at = at instanceof AggregateError && at.errors.length > 0 ? at.errors[0] : at.cause;
  }
  return undefined;
}

/** The host of a setting that is a URL or a host name; empty when it is neither. */
export function serverOf(setting: string): string {
  const host = setting.includes("://") ? (URL.parse(setting)?.hostname ?? "") : setting;
  return withoutBrackets(host);
}

const withoutBrackets = (host: string): string => host.replace(/^\[|\]$/g, "");

/** The same lookup, whose refusals name the setting that the server is from. */
export function namingSettings(
  lookup: LookupFunction,
  names: readonly string[],
  settings: Readonly<Record<string, unknown>>,
): LookupFunction {
  return (host, options, callback) =>
    lookup(host, options, (error, ...found) => {
      if (error?.code !== refusedCode) {
        callback(error, ...found);
        return;
      }
      const setting = names.find((name) => {
        const value = settings[name];
        return typeof value === "string" && serverOf(value).toLowerCase() === host.toLowerCase();
      });
      const text = `${setting ?? host}: ${error.message}`;
      callback(Object.assign(new Error(text, { cause: error }), { code: refusedCode }), "");
    });
}

/** An address of the host for a client that resolves by itself: IPv4 first, since not every network has IPv6. */
export function allowedAddress(lookup: LookupFunction, host: string): Promise<string> {
  return new Promise((resolve, reject) => {
    lookup(host, { all: true }, (error, found) => {
      if (error !== null) reject(error);
      else if (typeof found === "string") resolve(found);
      else resolve((found.find(({ family }) => family === 4) ?? found[0])?.address ?? host);
    });
  });
}

/** An agent whose connections are made to checked addresses only. */
export function createAgent(lookup: GuardedLookup, options: Omit<Agent.Options, "connect"> = {}): Agent {
  if (lookup === undefined) return new Agent(options);
  const connectTo = buildConnector({ lookup, timeout: 10_000, allowH2: false });
  return new Agent({
    ...options,
    connect(target, callback) {
      const host = withoutBrackets(target.hostname);
      if (isIP(host) === 0) {
        connectTo(target, callback);
        return;
      }
      // IP addresses are not resolved, so they are checked here.
      lookup(host, { all: true }, (error) => {
        if (error === null) connectTo(target, callback);
        else callback(error, null);
      });
    },
  });
}

/** `fetch` for an account's servers. */
export function createServerFetch(lookup: GuardedLookup): typeof fetch {
  // Looked up at each call: an observer may have replaced it.
  if (lookup === undefined) return (input, init) => fetch(input, init);
  const dispatcher = createAgent(lookup, { keepAliveTimeout: 4_000 });
  // The types of the package and of Node.js differ only in their streams.
  return (input, init) =>
    send(input as Parameters<typeof send>[0], {
      ...(init as Parameters<typeof send>[1]),
      dispatcher,
    }) as unknown as Promise<Response>;
}
