import type { FastifyRequest } from "fastify";
import { Type } from "typebox";
import { requireInstant } from "#domain/instant.ts";
import { Problem } from "#domain/problem.ts";
import { createAccessToken, listAccessTokens, revokeAccessToken } from "#admin/access-tokens.ts";
import { requireAgent } from "#admin/team/agents.ts";
import type { Administrator } from "#http/admin/administrator.ts";
import { administratorOf } from "#http/admin/administrator.ts";
import { adminResponses, givenName } from "#http/admin/schemas.ts";
import type { App } from "#http/app-type.ts";
import type { Resources } from "#http/v1/resources.ts";
import * as schemas from "#http/v1/schemas.ts";
import { ownAccountOf } from "./own.ts";

const lifetimeMaxMs = 367 * 86_400_000;

const scope = Type.Enum(["read", "write"]);

const fields = {
  id: Type.String(),
  name: Type.String(),
  hint: Type.String({ description: "The token's last four characters" }),
  scope,
  expires_at: schemas.nullable(schemas.time),
  last_used_at: schemas.nullable(schemas.time),
  created_at: schemas.time,
};

const accessToken = Type.Object(fields, { title: "AccessToken" });
const newAccessToken = Type.Object(
  { ...fields, token: Type.String({ description: "Shown once" }) },
  { title: "NewAccessToken" },
);

const list = Type.Object({ access_tokens: Type.Array(accessToken) }, { title: "AccessTokenList" });

const listSchema = {
  tags: ["Administration"],
  operationId: "listAccessTokens",
  summary: "List your access tokens, newest first",
  response: adminResponses({ 200: list }, []),
};

const createSchema = {
  tags: ["Administration"],
  operationId: "createAccessToken",
  summary: "Make an access token for your own programs",
  body: Type.Object(
    {
      name: givenName,
      scope,
      expires_at: Type.String({ description: "An ISO 8601 instant, at most 366 days ahead" }),
    },
    { title: "AccessTokenRequest" },
  ),
  response: adminResponses({ 201: newAccessToken }, schemas.withBody),
};

const revokeSchema = {
  tags: ["Administration"],
  operationId: "revokeAccessToken",
  summary: "Revoke an access token; later requests with it are refused",
  params: Type.Object({ id: Type.String() }),
  response: adminResponses({ 204: schemas.noContent }, []),
};

const listColleagueSchema = {
  tags: ["Administration"],
  operationId: "listAgentAccessTokens",
  summary: "List the access tokens of an agent, newest first",
  params: Type.Object({ id: Type.String() }),
  response: adminResponses({ 200: list }, []),
};

const revokeColleagueSchema = {
  tags: ["Administration"],
  operationId: "revokeAgentAccessToken",
  summary: "Revoke an access token of an agent; later requests with it are refused",
  params: Type.Object({ id: Type.String(), token_id: Type.String({ description: "The access token" }) }),
  response: adminResponses({ 204: schemas.noContent }, []),
};

type Row = Awaited<ReturnType<typeof listAccessTokens>>[number];

/** An admin's own access tokens. They end with the admin's account. */
export function accessTokenRoutes(app: App, { store, clock }: Resources): void {
  app.get("/access-tokens", { schema: listSchema }, async (request) => ({
    access_tokens: (await listAccessTokens(store, administratorOf(request).agentId)).map(item),
  }));

  app.post("/access-tokens", { schema: createSchema }, async (request, reply) => {
    const { name, scope: given, expires_at: end } = request.body;
    const { workspaceId, agentId, actor } = inSession(request);
    const expiresAt = requireInstant("expires_at", end);
    if (expiresAt > clock.now() + lifetimeMaxMs) {
      throw new Problem("invalid_parameter", "expires_at must be at most 366 days ahead.");
    }
    const made = await createAccessToken(store, clock, {
      workspaceId,
      agentId,
      name,
      expiresAt,
      scope: given,
      by: actor,
    });
    return reply.code(201).send({ ...item(made), token: made.token });
  });

  app.delete("/access-tokens/:id", { schema: revokeSchema }, async (request, reply) => {
    const { workspaceId, agentId, actor } = inSession(request);
    const { id } = request.params;
    if (!(await revokeAccessToken(store, clock, { id, agentId, workspaceId, by: actor }))) {
      throw new Problem("not_found", "You have no such access token.");
    }
    return reply.code(204).send();
  });
}

/** The access tokens of any agent of the workspace. */
export function agentAccessTokenRoutes(app: App, { store, clock }: Resources): void {
  app.get("/agents/:id/access-tokens", { schema: listColleagueSchema }, async (request) => {
    const { workspaceId } = administratorOf(request);
    const { id } = await requireAgent(store.read, workspaceId, request.params.id);
    return { access_tokens: (await listAccessTokens(store, id)).map(item) };
  });

  app.delete("/agents/:id/access-tokens/:token_id", { schema: revokeColleagueSchema }, async (request, reply) => {
    const { workspaceId, actor: by } = inSession(request);
    const { id: agentId, token_id: id } = request.params;
    if (!(await revokeAccessToken(store, clock, { id, agentId, workspaceId, by }))) {
      throw new Problem("not_found", "This agent has no such access token.");
    }
    return reply.code(204).send();
  });
}

/** Throws Problem for a call with an access token: a leaked one must not make another that lives longer. */
function inSession(request: FastifyRequest): Administrator {
  ownAccountOf(request);
  return administratorOf(request);
}

const item = ({ id, name, hint, scope: of, expires_at, last_used_at, created_at }: Row) => ({
  id,
  name,
  hint,
  scope: of,
  expires_at: timeOf(expires_at),
  last_used_at: timeOf(last_used_at),
  created_at: timeOf(created_at),
});

const timeOf = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString());
