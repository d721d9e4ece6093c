import Type from "typebox";
import { Value } from "typebox/value";
import type { ChannelHost } from "#channels/contract.ts";
import type { Issued, TokenHost } from "./token-store.ts";
import { createTokenStore } from "./token-store.ts";
import type { EmailConfig } from "../config.ts";

/** How to sign in at this moment. */
export type Credentials =
  | { readonly kind: "password"; readonly user: string; readonly password: string }
  | {
      readonly kind: "token";
      readonly user: string;
      readonly accessToken: string;
      /** It was asked for only now: where it is refused, another one would be too. */
      readonly isNew: boolean;
      /** A server has not let the token in: the next one is asked for anew. */
      refused(): void;
    };

/**
 * Signs in with these credentials. A token may be refused before its time, as after a change of the mailbox's password:
 * then once more, with a new one.
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
/** A token is renewed before it ends. */
const marginMs = 120_000;
/** Tokens of Microsoft have some thousand characters, and no answer needs a multiple of that. */
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

/** Whose refresh tokens stay good after they were used. */
const lastingHosts =
  /(?:^|\.)(?:googleapis\.com|google\.com|microsoftonline\.(?:com|us)|partner\.microsoftonline\.cn|live\.com)$/i;

/**
 * Whether a sign-in may cost the account its refresh token: with many providers each is good for one answer, and the next
 * one, which comes with it, could not be kept.
 */
export function mayUseUp(config: EmailConfig, { keeps }: Pick<ChannelHost, "keeps">): boolean {
  if (keeps || config.oauth_refresh_token === undefined || config.oauth_token_url === undefined) return false;
  return !URL.canParse(config.oauth_token_url) || !lastingHosts.test(new URL(config.oauth_token_url).hostname);
}

export interface Tokens {
  /** Throws an Error that tells the mend. `signal`: who asks does not wait any longer. */
  token(signal?: AbortSignal): Promise<AccessToken>;
  /** Nobody asks any more: what others renew is not waited for. */
  close(): void;
}

interface AccessToken {
  readonly token: string;
  readonly isNew: boolean;
  /** The server does not take it: the next one is asked for. Another one that is known by now stays. */
  refused(): void;
}

/** Access tokens for the mailbox, each used until it ends. */
export function createTokens(config: EmailConfig, host: TokenHost): Tokens | undefined {
  const { oauth_token_url: url, oauth_client_id: clientId, oauth_client_secret: clientSecret } = config;
  if (url === undefined || clientId === undefined) return undefined;
  const { clock } = host;
  const kept = createTokenStore(config, host);
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

  /** A token that is good still, and was given to another process, or to this one before it was started again. */
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
      response = await fetch(url ?? "", {
        method: "POST",
        body,
        redirect: "error",
        headers: { accept: "application/json" },
        signal: AbortSignal.timeout(requestMs),
      });
      answer = await answerOf(response);
    } catch {
      // Its cause could hold the request.
      throw new Error("oauth_token_url cannot be reached, or answers too much: check it");
    }
    if (!response.ok || !Value.Check(answerSchema, answer)) throw refusal(response.status, answer);
    const { access_token: token, expires_in: seconds, refresh_token: next } = answer;
    const lifetime = Number(seconds ?? 300);
    const issued = { token, until: clock.now() + (Number.isFinite(lifetime) ? lifetime : 300) * 1_000 - marginMs };
    await kept.keep(refresh === undefined ? undefined : (next ?? refresh), issued);
    known = issued;
    return give(issued, true);
  }

  /** Other processes do the same, each as soon as the token that all of them have ends. */
  const renewed = async (): Promise<AccessToken> => (await found()) ?? kept.alone(found, ask, closing.signal);

  const closing = new AbortController();
  let asking: Promise<AccessToken> | undefined;
  return {
    async token(signal) {
      signal?.throwIfAborted();
      if (known !== undefined && known.until > clock.now()) return give(known, false);
      // Reading and sending ask at the same time, and a refresh token may be good for one answer only.
      asking ??= renewed().finally(() => {
        asking = undefined;
      });
      return signal === undefined ? asking : untilAborted(asking, signal);
    },
    close: () => closing.abort(new Error("the account is closed")),
  };
}

/** Several wait for the same: who stops waiting does not stop it for the others. */
async function untilAborted<T>(wanted: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const onAbort = (): void => aborted.reject(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([wanted, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

/** No more of it than an answer needs. Null: it is no JSON. Throws where it is longer. */
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

const mends: Readonly<Record<string, string>> = {
  invalid_grant:
    "oauth_refresh_token has ended, was revoked, or belongs to another application: sign in again and put the new one there",
  invalid_client: "check oauth_client_id and oauth_client_secret; a secret of Microsoft's ends on a date",
  unauthorized_client: "this application may not ask for tokens in this way: check oauth_client_id and its permissions",
  invalid_scope: "check oauth_scope",
  unsupported_grant_type: "oauth_refresh_token is required there, or oauth_token_url is another's",
  invalid_request: "check oauth_token_url, oauth_scope and oauth_client_secret",
};

/** In words of ours: what a server says of a request may repeat it. */
function refusal(status: number, answer: unknown): Error {
  if (!Value.Check(refusalSchema, answer)) {
    return new Error(
      `no access token is given for this mailbox (status ${status}): check oauth_token_url, oauth_client_id and oauth_client_secret`,
    );
  }
  const { error, error_description: description = "" } = answer;
  // By its number Microsoft's documentation tells more.
  const number = /\bAADSTS[0-9]{4,8}\b/.exec(description.slice(0, 500))?.[0];
  const mend = Object.hasOwn(mends, error) ? mends[error] : undefined;
  return new Error(
    `no access token is given for this mailbox (${number === undefined ? error : `${error}, ${number}`}): ${mend ?? "check the settings that begin with oauth_"}`,
  );
}
