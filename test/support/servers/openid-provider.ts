import { createSign, generateKeyPairSync } from "node:crypto";
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import type { GrantContext } from "oidc-provider";
import Provider from "oidc-provider";

/** The claims of a person at the provider. */
export type Claims = Readonly<Record<string, unknown>>;

export interface OpenIdProvider {
  readonly issuer: string;
  /** People by the name that they sign in with, which is their subject. */
  readonly people: Map<string, Claims>;
  /** Paths of the requests that arrived. */
  readonly requests: string[];
  /** Changes what the provider sends; undefined leaves it. */
  tamper: ((path: string, body: string) => Tampered | undefined | Promise<Tampered | undefined>) | undefined;
  /** The ID token with other claims or another header, with the provider's signature. */
  resign(token: string, claims: Claims, header?: Claims): string;
  close(): Promise<void>;
}

interface Tampered {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
}

const scopesOf = { openid: ["sub"], email: ["email", "email_verified"], profile: ["name"], groups: ["groups"] };

/**
 * A certified OpenID provider in this process. Its page asks for a name and no password. `callbacks`: the addresses that
 * it leads browsers back to. `inToken`: the claims are in the ID token, and not at the userinfo endpoint only.
 */
export async function startOpenIdProvider({
  callbacks,
  inToken = false,
}: {
  readonly callbacks: readonly string[];
  readonly inToken?: boolean;
}): Promise<OpenIdProvider> {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2_048 });
  const people = new Map<string, Claims>();
  const requests: string[] = [];
  let handle: (request: IncomingMessage, response: ServerResponse) => Promise<unknown> = async () => undefined;
  const server = createServer((request, response) => void handle(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider = new Provider(issuer, {
    clients: [{ client_id: "parley", client_secret: "the client's secret", redirect_uris: callbacks }],
    jwks: { keys: [{ ...privateKey.export({ format: "jwk" }), use: "sig", alg: "RS256", kid: "one" }] },
    claims: scopesOf,
    scopes: Object.keys(scopesOf),
    conformIdTokenClaims: !inToken,
    cookies: { keys: ["a key of the provider's cookies"] },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_: unknown, { uid }: { readonly uid: string }) => `/interaction/${uid}` },
    ttl: { Interaction: 600, Session: 600, Grant: 600, AccessToken: 600, IdToken: 600, AuthorizationCode: 60 },
    findAccount: (_: unknown, id: string) => {
      const claims = people.get(id);
      return claims && { accountId: id, claims: () => ({ sub: id, ...claims }) };
    },
    loadExistingGrant: async ({ oidc }: GrantContext) => {
      const grant = new provider.Grant({ clientId: oidc.client.clientId, accountId: oidc.session.accountId });
      grant.addOIDCScope(Object.keys(scopesOf).join(" "));
      await grant.save();
      return grant;
    },
  });
  const answer = provider.callback();
  const started: OpenIdProvider = {
    issuer,
    people,
    requests,
    tamper: undefined,
    resign: (token, claims, header = {}) => signed(token, claims, header, privateKey),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  handle = async (request, response) => {
    const path = new URL(request.url ?? "/", issuer).pathname;
    requests.push(path);
    if (path.startsWith("/interaction/")) return interact(provider, request, response);
    if (started.tamper === undefined) return answer(request, response);
    return tampered(started, path, request, response, answer);
  };
  return started;
}

async function interact(provider: Provider, request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method !== "POST") {
    response.setHeader("content-type", "text/html");
    response.end(`<!doctype html><html lang="en"><title>Provider</title><form method="post">
      <label>Name <input name="login"></label> <button>Sign in</button></form></html>`);
    return;
  }
  const accountId = new URLSearchParams(await text(request)).get("login") ?? "";
  await provider.interactionFinished(request, response, { login: { accountId } });
}

/** Lets the provider answer, and sends something else. */
async function tampered(
  { tamper }: OpenIdProvider,
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
  answer: (request: IncomingMessage, response: ServerResponse) => Promise<void>,
): Promise<void> {
  const end = response.end.bind(response);
  const sent = Promise.withResolvers<string>();
  response.end = ((body?: unknown) => {
    sent.resolve(body instanceof Uint8Array ? Buffer.from(body).toString() : typeof body === "string" ? body : "");
    return response;
  }) as typeof response.end;
  await answer(request, response);
  const body = await sent.promise;
  const changed = await tamper?.(path, body);
  if (changed === undefined) {
    end(body);
    return;
  }
  response.statusCode = changed.status ?? response.statusCode;
  response.removeHeader("content-length");
  for (const [name, value] of Object.entries(changed.headers ?? {})) response.setHeader(name, value);
  end(changed.body);
}

function signed(
  token: string,
  claims: Claims,
  header: Claims,
  key: Parameters<ReturnType<typeof createSign>["sign"]>[0],
) {
  const [head = "", payload = ""] = token.split(".");
  const partOf = (part: string, more: Claims): string => {
    const known = JSON.parse(Buffer.from(part, "base64url").toString()) as Claims;
    return Buffer.from(JSON.stringify({ ...known, ...more })).toString("base64url");
  };
  const content = `${partOf(head, header)}.${partOf(payload, claims)}`;
  const signature =
    header["alg"] === "none" ? "" : createSign("RSA-SHA256").update(content).sign(key).toString("base64url");
  return `${content}.${signature}`;
}
