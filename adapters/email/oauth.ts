import type { Clock } from "#channel/contract.ts";
import type { EmailConfig } from "./settings.ts";

/** How to sign in at this moment. */
export type Credentials =
  | { readonly kind: "password"; readonly user: string; readonly password: string }
  | { readonly kind: "token"; readonly user: string; readonly accessToken: string };

const requestMs = 20_000;
/** A token is renewed before it ends. */
const marginMs = 120_000;

/** Access tokens for the mailbox, each used until it ends. */
export function createTokens(config: EmailConfig, clock: Clock): (() => Promise<string>) | undefined {
  const { oauth_token_url: url, oauth_client_id: clientId, oauth_client_secret: clientSecret } = config;
  if (url === undefined || clientId === undefined || clientSecret === undefined) return undefined;
  let known: { readonly token: string; readonly until: number } | undefined;
  return async () => {
    if (known !== undefined && known.until > clock.now()) return known.token;
    const refresh = config.oauth_refresh_token;
    const body = new URLSearchParams({
      client_id: clientId,
      client_secret: clientSecret,
      ...(refresh === undefined
        ? { grant_type: "client_credentials" }
        : { grant_type: "refresh_token", refresh_token: refresh }),
      ...(config.oauth_scope === undefined ? {} : { scope: config.oauth_scope }),
    });
    let response: Response;
    try {
      response = await fetch(url, { method: "POST", body, redirect: "error", signal: AbortSignal.timeout(requestMs) });
    } catch {
      // Its cause could hold the request.
      throw new Error("oauth_token_url cannot be reached");
    }
    const answer: unknown = await response.json().catch(() => null);
    const { access_token: token, expires_in: seconds, error } = (answer ?? {}) as Readonly<Record<string, unknown>>;
    if (!response.ok || typeof token !== "string") {
      const reason = typeof error === "string" && /^[a-z_]{1,60}$/.test(error) ? error : `status ${response.status}`;
      throw new Error(
        `no access token is given for this mailbox (${reason}): check oauth_client_id, oauth_client_secret and oauth_refresh_token`,
      );
    }
    known = { token, until: clock.now() + (typeof seconds === "number" ? seconds : 300) * 1_000 - marginMs };
    return token;
  };
}
