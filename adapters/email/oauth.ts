import { createHash } from "node:crypto";
import Type from "typebox";
import { Value } from "typebox/value";
import type { ChannelHost } from "#channel/contract.ts";
import type { EmailConfig } from "./settings.ts";

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
  credentials: () => Promise<C>,
  isRefused: (error: unknown) => boolean,
  signIn: (given: C) => Promise<T>,
): Promise<T> {
  const given = await credentials();
  try {
    return await signIn(given);
  } catch (error) {
    if (given?.kind !== "token" || !isRefused(error)) throw error;
    given.refused();
    if (given.isNew) throw error;
  }
  const next = await credentials();
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

const keptSchema = Type.Object({ given: Type.String(), token: Type.String() });
const keptName = "oauth refresh token";

export interface Tokens {
  /** Throws an Error that tells the mend. */
  token(): Promise<AccessToken>;
}

interface AccessToken {
  readonly token: string;
  readonly isNew: boolean;
  /** The server does not take it: the next one is asked for. Another one that is known by now stays. */
  refused(): void;
}

interface Issued {
  readonly token: string;
  readonly until: number;
}

type TokenHost = Pick<ChannelHost, "clock" | "rememberSecret" | "recallSecret">;

/** Access tokens for the mailbox, each used until it ends. */
export function createTokens(config: EmailConfig, host: TokenHost): Tokens | undefined {
  const { oauth_token_url: url, oauth_client_id: clientId, oauth_client_secret: clientSecret } = config;
  if (url === undefined || clientId === undefined) return undefined;
  const { clock } = host;
  let known: Issued | undefined;

  const give = (issued: Issued, isNew: boolean): AccessToken => ({
    token: issued.token,
    isNew,
    refused() {
      if (known === issued) known = undefined;
    },
  });

  async function ask(): Promise<AccessToken> {
    const refresh = await refreshToken(host, config.oauth_refresh_token);
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
    if (refresh !== undefined && next !== undefined && next !== refresh) {
      await keepRefreshToken(host, config.oauth_refresh_token ?? "", next);
    }
    const lifetime = Number(seconds ?? 300);
    const issued = { token, until: clock.now() + (Number.isFinite(lifetime) ? lifetime : 300) * 1_000 - marginMs };
    known = issued;
    return give(issued, true);
  }

  let asking: Promise<AccessToken> | undefined;
  return {
    async token() {
      if (known !== undefined && known.until > clock.now()) return give(known, false);
      // Reading and sending ask at the same time, and a refresh token may be good for one answer only.
      asking ??= ask().finally(() => {
        asking = undefined;
      });
      return asking;
    },
  };
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

const nameOf = (given: string): string => createHash("sha256").update(given).digest("hex");

/** The newest that was given; that of the configuration, once somebody has put another one there. */
async function refreshToken(host: TokenHost, given: string | undefined): Promise<string | undefined> {
  if (given === undefined) return undefined;
  const stored = await host.recallSecret(keptName);
  const kept: unknown = stored === null ? null : JSON.parse(stored);
  return Value.Check(keptSchema, kept) && kept.given === nameOf(given) ? kept.token : given;
}

async function keepRefreshToken(host: TokenHost, given: string, token: string): Promise<void> {
  await host.rememberSecret(keptName, JSON.stringify({ given: nameOf(given), token }));
}
