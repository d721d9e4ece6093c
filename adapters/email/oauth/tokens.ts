import Type from "typebox";
import { Value } from "typebox/value";
import { untilAborted } from "#runtime/abort.ts";
import type { ChannelHost } from "#channels/contract.ts";
import { createServerFetch, refusalIn } from "#channels/http/guarded-connect.ts";
import type { Issued, TokenHost } from "./token-store.ts";
import { createTokenStore } from "./token-store.ts";
import type { EmailConfig } from "../config.ts";

/** The credentials for one sign-in. */
export type Credentials =
  | { readonly kind: "password"; readonly user: string; readonly password: string }
  | {
      readonly kind: "token";
      readonly user: string;
      readonly accessToken: string;
      /** Just issued: if it is refused, a newer one would be too. */
      readonly isNew: boolean;
      /** Reports that a server refused the token: a new one is requested next time. */
      refused(): void;
    };

/**
 * Signs in. A token can be refused before it expires, such as after a change of the mailbox's password: then one retry
 * uses a new token.
 */
export async function signedIn<C extends Credentials | undefined, T>(
  credentials: (signal?: AbortSignal) => Promise<C>,
  isRefused: (error: unknown) => boolean,
  signIn: (given: C) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  const given = await credentials(signal);
  try {
    return await signIn(given);
  } catch (error) {
    if (given?.kind !== "token" || !isRefused(error)) throw error;
    given.refused();
    if (given.isNew) throw error;
  }
  const next = await credentials(signal);
  try {
    return await signIn(next);
  } catch (error) {
    if (next?.kind === "token" && isRefused(error)) next.refused();
    throw error;
  }
}

const requestMs = 20_000;
/** Tokens are renewed this long before they expire. */
const marginMs = 120_000;
/** Far above real answers: Microsoft's tokens have a few thousand characters. */
const answerBytesMax = 64 * 1024;
const tokenCharsMax = 16_000;

const answerSchema = Type.Object({
  access_token: Type.String({ minLength: 1, maxLength: tokenCharsMax, pattern: "^[!-~]+$" }),
  expires_in: Type.Optional(Type.Union([Type.Number(), Type.String()])),
  refresh_token: Type.Optional(Type.String({ minLength: 1, maxLength: tokenCharsMax, pattern: "^[!-~]+$" })),
});
const refusalSchema = Type.Object({
  error: Type.String({ pattern: "^[a-z_]{1,60}$" }),
  error_description: Type.Optional(Type.String()),
});

/** Providers whose refresh tokens can be used more than once. */
const lastingHosts =
  /(?:^|\.)(?:googleapis\.com|google\.com|microsoftonline\.(?:com|us)|partner\.microsoftonline\.cn|live\.com)$/i;

/**
 * Whether a sign-in may cost the account its refresh token: many providers accept each token once, and without stored
 * state its successor would be lost.
 */
export function mayUseUp(config: EmailConfig, { state }: Pick<ChannelHost, "state">): boolean {
  if (state.isKept || config.oauth_refresh_token === undefined || config.oauth_token_url === undefined) return false;
  return !URL.canParse(config.oauth_token_url) || !lastingHosts.test(new URL(config.oauth_token_url).hostname);
}

export interface Tokens {
  /** Throws an Error that names the fix. `signal` ends the wait of this caller only. */
  token(signal?: AbortSignal): Promise<AccessToken>;
  /** Ends waits for a renewal by another process. */
  close(): void;
}

interface AccessToken {
  readonly token: string;
  readonly isNew: boolean;
  /** Discards this token after a refusal. A newer cached one stays. */
  refused(): void;
}

/** Issues access tokens for the mailbox and caches each until its renewal. undefined: the account has a password. */
export function createTokens(config: EmailConfig, host: TokenHost): Tokens | undefined {
  const { oauth_token_url: url, oauth_client_id: clientId, oauth_client_secret: clientSecret } = config;
  if (url === undefined || clientId === undefined) return undefined;
  const { clock } = host;
  const kept = createTokenStore(config, host);
  const fetchAllowed = createServerFetch(host.lookup);
  let known: Issued | undefined;
  const refused = new Set<string>();

  const give = (issued: Issued, isNew: boolean): AccessToken => ({
    token: issued.token,
    isNew,
    refused() {
      refused.clear();
      refused.add(issued.token);
      if (known === issued) known = undefined;
    },
  });

  /** A valid token from the store: issued to another process, or to this one before a restart. */
  async function found(): Promise<AccessToken | undefined> {
    const { access } = await kept.read();
    if (access === undefined || access.until <= clock.now() || refused.has(access.token)) return undefined;
    known = access;
    return give(access, false);
  }

  async function ask(): Promise<AccessToken> {
    const { refresh } = await kept.read();
    const body = new URLSearchParams({
      client_id: clientId ?? "",
      ...(clientSecret === undefined ? {} : { client_secret: clientSecret }),
      ...(refresh === undefined
        ? { grant_type: "client_credentials" }
        : { grant_type: "refresh_token", refresh_token: refresh }),
      ...(config.oauth_scope === undefined ? {} : { scope: config.oauth_scope }),
    });
    let response: Response;
    let answer: unknown;
    try {
      response = await fetchAllowed(url ?? "", {
        method: "POST",
        body,
        redirect: "error",
        headers: { accept: "application/json" },
        signal: AbortSignal.timeout(requestMs),
      });
      answer = await answerOf(response);
    } catch (error) {
      throw unreachable(error);
    }
    if (!response.ok || !Value.Check(answerSchema, answer)) throw refusal(response.status, answer);
    const { access_token: token, expires_in: seconds, refresh_token: next } = answer;
    const lifetime = Number(seconds ?? 300);
    const issued = { token, until: clock.now() + (Number.isFinite(lifetime) ? lifetime : 300) * 1_000 - marginMs };
    await kept.keep(refresh === undefined ? undefined : (next ?? refresh), issued);
    known = issued;
    return give(issued, true);
  }

  /** Renews under the lease: all processes need a new token at the same time. */
  const renewed = async (): Promise<AccessToken> => (await found()) ?? kept.alone(found, ask, closing.signal);

  const closing = new AbortController();
  let asking: Promise<AccessToken> | undefined;
  return {
    async token(signal) {
      signal?.throwIfAborted();
      if (known !== undefined && known.until > clock.now()) return give(known, false);
      // Reading and sending share one request: a refresh token may be valid only once.
      asking ??= renewed().finally(() => {
        asking = undefined;
      });
      // An abort by one caller must not end the request for the others.
      return untilAborted(asking, signal);
    },
    close: () => closing.abort(new Error("the account is closed")),
  };
}

/** Without a cause, which may hold the request with its secrets. */
const unreachable = (error: unknown): Error =>
  new Error(refusalIn(error) ?? "oauth_token_url cannot be reached, or its answer is too long: check it");

/** Reads the answer up to a limit. null: not JSON. Throws when it is longer. */
async function answerOf(response: Response): Promise<unknown> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += piece.length;
    if (bytes > answerBytesMax) throw new Error("the answer is too long");
    pieces.push(piece);
  }
  try {
    return JSON.parse(Buffer.concat(pieces).toString("utf8")) as unknown;
  } catch {
    return null;
  }
}

const fixes: Readonly<Record<string, string>> = {
  invalid_grant:
    "oauth_refresh_token has ended, was revoked, or belongs to another application: sign in again and put the new one there",
  invalid_client: "check oauth_client_id and oauth_client_secret; a secret of Microsoft's ends on a date",
  unauthorized_client: "this application may not ask for tokens in this way: check oauth_client_id and its permissions",
  invalid_scope: "check oauth_scope",
  unsupported_grant_type: "oauth_refresh_token is required there, or oauth_token_url is another's",
  invalid_request: "check oauth_token_url, oauth_scope and oauth_client_secret",
};

/** The error in our own words: the server's text may repeat the request and its secrets. */
function refusal(status: number, answer: unknown): Error {
  if (!Value.Check(refusalSchema, answer)) {
    return new Error(
      `no access token is given for this mailbox (status ${status}): check oauth_token_url, oauth_client_id and oauth_client_secret`,
    );
  }
  const { error, error_description: description = "" } = answer;
  // Microsoft documents its errors by this number.
  const number = /\bAADSTS[0-9]{4,8}\b/.exec(description.slice(0, 500))?.[0];
  const fix = Object.hasOwn(fixes, error) ? fixes[error] : undefined;
  return new Error(
    `no access token is given for this mailbox (${number === undefined ? error : `${error}, ${number}`}): ${fix ?? "check the settings that begin with oauth_"}`,
  );
}
