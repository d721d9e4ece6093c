import { Type } from "typebox";
import { Problem } from "#domain/problem.ts";
import { createOAuthClient, listOAuthClients } from "#admin/oauth-clients.ts";
import { requireKey, revokeKey } from "#admin/api-keys.ts";
import type { App } from "#http/app-type.ts";
import type { Resources } from "#http/v1/resources.ts";
import * as schemas from "#http/v1/schemas.ts";
import { administratorOf } from "./administrator.ts";
import { adminResponses, givenName } from "./schemas.ts";

const tags = ["Administration"];

const client = Type.Object(
  {
    id: Type.String({ description: "The `client_id`" }),
    name: Type.String(),
    hint: Type.String({ description: "The secret's last four characters" }),
    last_used_at: schemas.nullable(schemas.time),
    created_at: schemas.time,
  },
  { title: "OAuthClient" },
);

const listSchema = {
  tags,
  operationId: "listOAuthClients",
  summary: "List OAuth clients, oldest first",
  response: adminResponses(
    { 200: Type.Object({ oauth_clients: Type.Array(client) }, { title: "OAuthClientList" }) },
    [],
  ),
};

const createSchema = {
  tags,
  operationId: "createOAuthClient",
  summary: "Make an OAuth client for client credentials; on Enterprise only",
  body: Type.Object({ name: givenName }, { title: "OAuthClientRequest" }),
  response: adminResponses(
    {
      201: Type.Object(
        {
          client_id: Type.String(),
          client_secret: Type.String({ description: "Shown once" }),
          name: Type.String(),
        },
        { title: "NewOAuthClient" },
      ),
    },
    [...schemas.withBody, "feature_not_in_plan"],
  ),
};

const revokeSchema = {
  tags,
  operationId: "revokeOAuthClient",
  summary: "Revoke an OAuth client with its tokens",
  params: Type.Object({ id: Type.String() }),
  response: adminResponses({ 204: schemas.noContent }, []),
};

/** OAuth clients of the workspace. */
export function oauthClientRoutes(app: App, { store, clock }: Resources): void {
  app.get("/oauth-clients", { schema: listSchema }, async (request) => {
    const rows = await listOAuthClients(store, administratorOf(request).workspaceId);
    const timeOf = (at: number): string => new Date(at).toISOString();
    return {
      oauth_clients: rows.map(({ last_used_at: used, created_at: at, ...row }) => ({
        ...row,
        last_used_at: used === null ? null : timeOf(used),
        created_at: timeOf(at),
      })),
    };
  });

  app.post("/oauth-clients", { schema: createSchema }, async (request, reply) => {
    const { workspaceId, actor } = administratorOf(request);
    const { id, name, secret } = await createOAuthClient(store, clock, {
      workspaceId,
      name: request.body.name,
      by: actor,
    });
    return reply.code(201).send({ client_id: id, client_secret: secret, name });
  });

  app.delete("/oauth-clients/:id", { schema: revokeSchema }, async (request, reply) => {
    const { workspaceId, actor } = administratorOf(request);
    const { id, client_secret: secret } = await requireKey(store, request.params.id, workspaceId);
    if (secret === null) throw new Problem("not_found", `there is no client ${id}`);
    await revokeKey(store, clock, id, actor);
    return reply.code(204).send();
  });
}
