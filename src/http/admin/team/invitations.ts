import { invitationUrl, renewInvitation, revokeInvitation } from "#admin/team/invitations.ts";
import { administratorOf } from "#http/admin/administrator.ts";
import { adminResponses } from "#http/admin/schemas.ts";
import type { App } from "#http/app-type.ts";
import type { Resources } from "#http/v1/resources.ts";
import * as schemas from "#http/v1/schemas.ts";
import { mailFor } from "./agents.ts";
import { invitation, iso, oneAgent, tags } from "./schemas.ts";

const renewSchema = {
  tags,
  operationId: "renewInvitation",
  summary: "Make a new invitation link; the link before no longer works",
  params: oneAgent,
  response: adminResponses({ 201: invitation }, ["invalid_transition"]),
};

const revokeSchema = {
  tags,
  operationId: "revokeInvitation",
  summary: "Revoke an invitation, and remove the agent who has not joined",
  params: oneAgent,
  response: adminResponses({ 204: schemas.noContent }, ["invalid_transition"]),
};

/** Invitations that are not accepted yet. */
export function invitationRoutes(app: App, resources: Resources): void {
  const { store, clock, options } = resources;
  app.post("/agents/:id/invitation", { schema: renewSchema }, async (request, reply) => {
    const { workspaceId, actor: by } = administratorOf(request);
    const agent = { workspaceId, agentId: request.params.id, by };
    const renewed = await renewInvitation(store, clock, agent, mailFor(resources));
    return reply.code(201).send({
      invitation_url: invitationUrl(options.publicUrl, renewed.token),
      expires_at: iso(renewed.expiresAt),
      mailed: resources.canMail,
    });
  });

  app.delete("/agents/:id/invitation", { schema: revokeSchema }, async (request, reply) => {
    const { workspaceId, actor: by } = administratorOf(request);
    await revokeInvitation(store, clock, { workspaceId, agentId: request.params.id, by });
    return reply.code(204).send();
  });
}
