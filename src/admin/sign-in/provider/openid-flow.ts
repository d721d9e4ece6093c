import { hash } from "node:crypto";
import type { Configuration, CustomFetch } from "openid-client";
import * as openid from "openid-client";
import type { SingleSignOn } from "#domain/workspace/single-sign-on.ts";
import { groupsOf } from "#domain/workspace/single-sign-on.ts";
import type { GuardedFetch } from "#outbound/guarded-fetch.ts";
import type { Challenge, ClientDependencies, Person, ProviderClient } from "./contract.ts";
import { ProviderFault } from "./fault.ts";
import { faultOf } from "./openid-faults.ts";

/** Limits of one request to a provider. */
const timeoutMs = 5_000;
const bytesMax = 256_000;
/** A provider's description is used for this long. */
const freshMs = 10 * 60_000;
const describedMax = 500;

/** The authorization code flow of OpenID Connect, with PKCE. */
export function createOpenidFlow({ guardedFetch, secrets, clock }: ClientDependencies): ProviderClient {
  const described = new Map<string, { readonly at: number; readonly configuration: Promise<Configuration> }>();

  function configurationOf(provider: SingleSignOn): Promise<Configuration> {
    const { issuer, clientId, clientSecret } = provider;
    const key = hash("sha256", JSON.stringify([issuer, clientId, clientSecret]));
    const now = clock.now();
    const known = described.get(key);
    if (known !== undefined && now >= known.at && now - known.at < freshMs) return known.configuration;
    const configuration = describe(provider, () => secrets.open(clientSecret), fetchOf(guardedFetch));
    if (described.size >= describedMax) described.clear();
    described.set(key, { at: now, configuration });
    configuration.catch(() => described.delete(key));
    return configuration;
  }

  return {
    async begin(provider, callback) {
      const configuration = await configurationOf(provider).catch(faultOf);
      const verifier = openid.randomPKCECodeVerifier();
      const challenge = { state: openid.randomState(), nonce: openid.randomNonce(), verifier };
      const url = openid.buildAuthorizationUrl(configuration, {
        redirect_uri: callback,
        scope: provider.scopes.join(" "),
        state: challenge.state,
        nonce: challenge.nonce,
        code_challenge: await openid.calculatePKCECodeChallenge(verifier),
        code_challenge_method: "S256",
      });
      return { url: url.href, challenge };
    },
    async finish(provider, returned, challenge) {
      try {
        return await redeem(await configurationOf(provider), provider, returned, challenge);
      } catch (error) {
        return faultOf(error);
      }
    },
    async check(provider) {
      const fetch = fetchOf(guardedFetch);
      await describe(provider, () => provider.clientSecret, fetch).catch(faultOf);
    },
  };
}

async function describe(provider: SingleSignOn, openSecret: () => string, fetch: CustomFetch): Promise<Configuration> {
  const issuer = new URL(provider.issuer);
  const execute = [openid.enableNonRepudiationChecks];
  // The configuration admits http:// for this machine only.
  // oxlint-disable-next-line typescript/no-deprecated -- marked so that it stands out
  if (issuer.protocol === "http:") execute.push(openid.allowInsecureRequests);
  const options = { execute, timeout: timeoutMs / 1_000, [openid.customFetch]: fetch };
  const configuration = await openid.discovery(issuer, provider.clientId, openSecret(), undefined, options);
  const found = configuration.serverMetadata();
  // openid-client makes exceptions for addresses that stand for every customer of a provider.
  if (new URL(found.issuer).href !== issuer.href) {
    throw new ProviderFault("description", `issuer: the provider names itself ${found.issuer.slice(0, 300)}`);
  }
  const page = URL.parse(found.authorization_endpoint ?? "");
  if (page === null || (page.protocol !== "https:" && page.protocol !== issuer.protocol)) {
    throw new ProviderFault("description", "issuer: the provider names no page to sign in at");
  }
  return configuration;
}

async function redeem(
  configuration: Configuration,
  provider: SingleSignOn,
  returned: URL,
  { state, nonce, verifier }: Challenge,
): Promise<Person> {
  const tokens = await openid.authorizationCodeGrant(configuration, returned, {
    expectedState: state,
    expectedNonce: nonce,
    pkceCodeVerifier: verifier,
    idTokenExpected: true,
  });
  const idToken = tokens.claims();
  if (idToken === undefined) throw new ProviderFault("answer", "the provider sent no ID token");
  let claims: Readonly<Record<string, unknown>> = idToken;
  const { userinfo_endpoint: more } = configuration.serverMetadata();
  const isWhole =
    claims["email"] !== undefined &&
    claims["email_verified"] !== undefined &&
    (provider.groups.length === 0 || groupsOf(claims, provider.groupsClaim).length > 0);
  if (!isWhole && more !== undefined) {
    claims = { ...(await openid.fetchUserInfo(configuration, tokens.access_token, idToken.sub)), ...claims };
  }
  return personOf(claims, idToken.sub, provider);
}

function personOf(claims: Readonly<Record<string, unknown>>, subject: string, provider: SingleSignOn): Person {
  const textOf = (name: string): string | null => {
    const value = claims[name];
    return typeof value === "string" && value.trim() !== "" ? value.trim() : null;
  };
  return {
    subject,
    email: textOf("email")?.toLowerCase() ?? null,
    isEmailVerified: claims["email_verified"] === true,
    name: (textOf("name") ?? textOf("preferred_username"))?.slice(0, 100) ?? null,
    groups: groupsOf(claims, provider.groupsClaim),
  };
}

const fetchOf =
  (guardedFetch: GuardedFetch): CustomFetch =>
  async (url, { method, headers, body, signal }) => {
    const answer = await guardedFetch.fetch(url, {
      method,
      headers,
      timeoutMs,
      bytesMax,
      // Token requests are forms; others have no body.
      ...(body instanceof URLSearchParams ? { body: body.toString() } : {}),
      ...(signal === undefined ? {} : { signal }),
    });
    if (!answer.complete) throw new ProviderFault("answer", `the provider sent more than ${bytesMax} bytes`);
    const hasBody = answer.status !== 204 && answer.status !== 205 && answer.status !== 304;
    return new Response(hasBody ? answer.body : null, { status: answer.status, headers: answer.headers });
  };
