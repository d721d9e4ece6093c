import { Type } from "typebox";
import { createPasswordLink, passwordUrl } from "#admin/sign-in/password-reset.ts";
import { Problem } from "#domain/problem.ts";
import { ownAccountOf } from "#http/admin/account/own.ts";
import { adminResponses } from "#http/admin/schemas.ts";
import type { App } from "#http/app-type.ts";
import type { Resources } from "#http/v1/resources.ts";
import * as schemas from "#http/v1/schemas.ts";
import { iso, oneAgent, tags } from "./schemas.ts";

const createSchema = {
  tags,
  operationId: "createPasswordLink",
  summary: "Make a link by which a colleague sets a new password for this workspace; the link before no longer works",
  params: oneAgent,
  response: adminResponses(
    {
      201: Type.Object(
        {
          password_url: Type.String({ description: "Shown once. It works until it is used, for a day at most" }),
          expires_at: schemas.time,
        },
        { title: "PasswordLink" },
      ),
    },
    ["invalid_transition"],
  ),
};

/** Links for colleagues who forgot the password, also where no mail can be sent. Access tokens cannot make them. */
export function passwordLinkRoutes(app: App, { store, clock, options }: Resources): void {
  app.post("/agents/:id/password-link", { schema: createSchema }, async (request, reply) => {
    const { agentId, workspaceId, actor: by } = ownAccountOf(request);
    // Their own needs the password.
    if (request.params.id === agentId) {
      throw new Problem("invalid_parameter", "Change your own password on the page of your account.");
    }
    const { token, expiresAt } = await createPasswordLink(store, clock, {
      workspaceId,
      agentId: request.params.id,
      by,
      makerId: agentId,
    });
    return reply.code(201).send({ password_url: passwordUrl(options.publicUrl, token), expires_at: iso(expiresAt) });
  });
}
