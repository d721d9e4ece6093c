import { Type } from "typebox";
import { dismissDeadLetter, retryDeadLetter, retryDeadLetters } from "#admin/installation/dead-letter-changes.ts";
import { editOf } from "#http/admin/administrator.ts";
import { adminResponses } from "#http/admin/schemas.ts";
import type { App } from "#http/app-type.ts";
import type { Resources } from "#http/v1/resources.ts";
import * as schemas from "#http/v1/schemas.ts";

const tags = ["Administration"];
const params = Type.Object({ id: Type.String({ description: "Of `dead_letters` in the overview" }) });
const retried = Type.Object(
  { retried: Type.Integer({ description: "Pieces of work that are queued again" }) },
  { title: "RetriedWork" },
);

const retrySchema = {
  tags,
  operationId: "retryDeadLetter",
  summary: "Try work again that was given up",
  description: "Refused with 409 where `can_retry` is false, and while the work is being tried.",
  params,
  response: adminResponses({ 202: retried }, ["invalid_transition"]),
};

const retryAllSchema = {
  tags,
  operationId: "retryDeadLetters",
  summary: "Try all work again that was given up and whose `can_retry` is true",
  response: adminResponses({ 202: retried }, []),
};

const dismissSchema = {
  tags,
  operationId: "dismissDeadLetter",
  summary: "Delete work that was given up",
  description: "Refused with 409 where `can_dismiss` is false, and while the work is being tried.",
  params,
  response: adminResponses({ 204: schemas.noContent }, ["invalid_transition"]),
};

/** Work that was given up, which the overview lists. */
export function deadLetterRoutes(app: App, resources: Resources): void {
  app.post("/dead-letters/:id/retry", { schema: retrySchema }, async (request, reply) => {
    await retryDeadLetter(resources, editOf(request), request.params.id);
    return reply.code(202).send({ retried: 1 });
  });

  app.post("/dead-letters/retry", { schema: retryAllSchema }, async (request, reply) =>
    reply.code(202).send({ retried: await retryDeadLetters(resources, editOf(request)) }),
  );

  app.delete("/dead-letters/:id", { schema: dismissSchema }, async (request, reply) => {
    await dismissDeadLetter(resources, editOf(request), request.params.id);
    return reply.code(204).send();
  });
}
