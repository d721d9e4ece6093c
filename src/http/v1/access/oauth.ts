import type { FastifyReply, FastifyRequest } from "fastify";
import { authenticateClient, issueToken, revokeToken, tokenLifeMs } from "#admin/oauth-clients.ts";
import type { App } from "#http/app-type.ts";
import type { HttpDependencies } from "#http/dependencies.ts";
import type { Bodies } from "#http/middleware/bodies/bodies.ts";
import { parseBodies } from "#http/middleware/bodies/bodies.ts";
import { handleError } from "#http/problem.ts";

const formBytesMax = 8_192;
// src/http/openapi/oauth.ts describes these routes.
const hidden = { schema: { hide: true }, bodyLimit: formBytesMax };

/** An error in the form of RFC 6749, section 5.2. */
class OAuthError extends Error {
  readonly code: "invalid_request" | "invalid_client" | "unsupported_grant_type";

  constructor(code: OAuthError["code"], description: string) {
    super(description);
    this.name = "OAuthError";
    this.code = code;
  }
}

/**
 * Client credentials for workspaces on Enterprise: `POST /oauth/token` (RFC 6749, section 4.4), `POST /oauth/revoke`
 * (RFC 7009), and the metadata (RFC 8414).
 */
export async function registerOAuth(
  app: App,
  dependencies: Pick<HttpDependencies, "store" | "clock" | "options">,
  bodies: Bodies,
): Promise<void> {
  app.get("/.well-known/oauth-authorization-server", hidden, async () => metadata(dependencies.options.publicUrl));
  await app.register(async (scope: App) => tokenRoutes(scope, dependencies, bodies), { prefix: "/oauth" });
}

export const authMethods = ["client_secret_basic", "client_secret_post"] as const;

const metadata = (issuer: string) => ({
  issuer,
  token_endpoint: `${issuer}/oauth/token`,
  token_endpoint_auth_methods_supported: authMethods,
  revocation_endpoint: `${issuer}/oauth/revoke`,
  revocation_endpoint_auth_methods_supported: authMethods,
  grant_types_supported: ["client_credentials"],
  response_types_supported: [],
  service_documentation: `${issuer}/docs`,
});

function tokenRoutes(scope: App, { store, clock }: Pick<HttpDependencies, "store" | "clock">, bodies: Bodies): void {
  scope.setErrorHandler(answerError);
  parseBodies(
    scope,
    bodies,
    "application/x-www-form-urlencoded",
    (_request, body, done) => done(null, new URLSearchParams(body.toString())),
    () => formBytesMax,
  );
  scope.addHook("onRequest", async (_request, reply) => {
    void reply.header("cache-control", "no-store").header("pragma", "no-cache");
  });

  async function clientOf(request: FastifyRequest, form: URLSearchParams): Promise<string> {
    const given = credentialsIn(request, form);
    const client = given && (await authenticateClient(store, given.id, given.secret));
    if (client === undefined) throw new OAuthError("invalid_client", "the client is unknown, or its secret is wrong");
    return client;
  }

  scope.post("/token", hidden, async (request) => {
    const form = formOf(request);
    const client = await clientOf(request, form);
    const grant = form.get("grant_type");
    if (grant === null) throw new OAuthError("invalid_request", "grant_type is missing");
    if (grant !== "client_credentials") {
      throw new OAuthError("unsupported_grant_type", "grant_type must be client_credentials");
    }
    const token = await issueToken(store, clock, client);
    return { access_token: token, token_type: "Bearer", expires_in: tokenLifeMs / 1_000 };
  });

  scope.post("/revoke", hidden, async (request, reply) => {
    const form = formOf(request);
    const client = await clientOf(request, form);
    const token = form.get("token");
    if (token === null) throw new OAuthError("invalid_request", "token is missing");
    await revokeToken(store, client, token);
    return reply.code(200).send();
  });
}

/** Throws OAuthError for a field that is sent twice. */
function formOf({ body }: FastifyRequest): URLSearchParams {
  if (!(body instanceof URLSearchParams)) {
    throw new OAuthError("invalid_request", "the body must be application/x-www-form-urlencoded");
  }
  const twice = [...body.keys()].find((name) => body.getAll(name).length > 1);
  if (twice !== undefined) throw new OAuthError("invalid_request", `${twice} is sent twice`);
  return body;
}

interface Credentials {
  readonly id: string;
  readonly secret: string;
}

/** From the Authorization header or the form. Throws OAuthError where both are used. */
function credentialsIn({ headers }: FastifyRequest, form: URLSearchParams): Credentials | undefined {
  const id = form.get("client_id");
  const secret = form.get("client_secret");
  if (headers.authorization === undefined) return id === null || secret === null ? undefined : { id, secret };
  if (secret !== null) throw new OAuthError("invalid_request", "use one way to authenticate the client");
  return basicCredentials(headers.authorization);
}

/** RFC 6749, section 2.3.1: id and secret are form-encoded first. */
function basicCredentials(header: string): Credentials | undefined {
  const [, encoded] = /^basic ([a-z0-9+/]+=*)$/iu.exec(header) ?? [];
  if (encoded === undefined) return undefined;
  const text = Buffer.from(encoded, "base64").toString();
  const at = text.indexOf(":");
  if (at === -1) return undefined;
  const decode = (part: string): string => new URLSearchParams(`v=${part}`).get("v") ?? "";
  return { id: decode(text.slice(0, at)), secret: decode(text.slice(at + 1)) };
}

function answerError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  if (!(error instanceof OAuthError)) return handleError(error, request, reply);
  const isClient = error.code === "invalid_client";
  if (isClient) void reply.header("www-authenticate", 'Basic realm="Parley"');
  return reply.code(isClient ? 401 : 400).send({ error: error.code, error_description: error.message });
}
