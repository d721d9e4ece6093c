import { Type } from "typebox";
import { agentTopic } from "#queue/signals/topics.ts";
import { changeOwnProfile, changePassword } from "#admin/sign-in/own-account.ts";
import { adminResponses, givenName } from "#http/admin/schemas.ts";
import type { App } from "#http/app-type.ts";
import type { Resources } from "#http/v1/resources.ts";
import * as schemas from "#http/v1/schemas.ts";
import { own, ownAccountOf, requireGivenPassword } from "./own.ts";

export const away = Type.Boolean({ description: "Rules assign no conversations to an agent who is away" });
export const password = Type.String({ maxLength: 500 });

const profileSchema = {
  tags: ["Administration"],
  operationId: "changeMe",
  summary: "Change your name, which customers see, or whether you are away",
  body: Type.Object({ name: Type.Optional(givenName), away: Type.Optional(away) }, { title: "MeChange" }),
  response: adminResponses({ 204: schemas.noContent }, schemas.withBody),
};

const passwordSchema = {
  tags: ["Administration"],
  operationId: "changePassword",
  summary: "Set your password, and end your other sessions",
  body: Type.Object(
    {
      current_password: Type.Optional(password),
      password: Type.String({ maxLength: 500, description: "At least 10 characters" }),
    },
    { title: "PasswordChange" },
  ),
  response: adminResponses({ 204: schemas.noContent }, [...schemas.withBody, "too_many_attempts"]),
};

/** An agent's own name, absence and password. */
export function profileRoutes(app: App, resources: Resources): void {
  const { fanout } = resources;

  app.patch("/me", { config: own, schema: profileSchema }, async (request, reply) => {
    const { name, ...rest } = request.body;
    const change = name === undefined ? rest : { ...rest, name: name.trim() };
    await changeOwnProfile(resources, ownAccountOf(request), change);
    return reply.code(204).send();
  });

  app.put("/me/password", { config: own, schema: passwordSchema }, async (request, reply) => {
    const account = ownAccountOf(request);
    const { current_password: current, password: next } = request.body;
    await requireGivenPassword(resources, request, account, current, "current_password");
    await changePassword(resources, account, next, account.session);
    fanout.publish(agentTopic(account.agentId), "{}");
    return reply.code(204).send();
  });
}
