import { Type } from "typebox";
import { rotateIdentitySecret } from "#admin/workspaces/workspaces.ts";
import { administratorOf } from "#http/admin/administrator.ts";
import { adminResponses } from "#http/admin/schemas.ts";
import type { App } from "#http/app-type.ts";
import type { Resources } from "#http/v1/resources.ts";

const rotateSchema = {
  tags: ["Administration"],
  operationId: "rotateIdentitySecret",
  summary: "Make a new identity secret; hashes and user tokens made with the one before are refused within a second",
  response: adminResponses(
    {
      201: Type.Object(
        { identity_secret: Type.String({ description: "Shown once. It is for your own servers only" }) },
        { title: "IdentitySecret" },
      ),
    },
    [],
  ),
};

/** The secret that proves who a customer is. */
export function identityRoutes(app: App, { store, clock, secrets }: Resources): void {
  app.post("/identity-secret", { schema: rotateSchema }, async (request, reply) => {
    const { workspaceId, actor } = administratorOf(request);
    const secret = await rotateIdentitySecret({ store, clock, secrets }, workspaceId, actor);
    return reply.code(201).send({ identity_secret: secret });
  });
}
