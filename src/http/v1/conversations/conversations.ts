import { keyActor } from "#http/v1/access/auth.ts";
import type { App } from "#http/app-type.ts";
import type { Resources } from "#http/v1/resources.ts";
import { callerOf } from "#http/v1/resources.ts";
import * as schemas from "#http/v1/schemas.ts";
import { bulkRoutes } from "./bulk.ts";
import { listRoute } from "./list.ts";
import { messageRoutes } from "./messages.ts";
import { noteRoutes } from "./notes.ts";
import { updateRoute } from "./update.ts";

const getSchema = {
  tags: ["Conversations"],
  operationId: "getConversation",
  summary: "Read a conversation with its messages, notes and audit log",
  response: schemas.responses({ 200: schemas.conversation }, ["conversation_not_found"]),
};

const deleteSchema = {
  tags: ["Conversations"],
  operationId: "deleteConversation",
  summary: "Delete a conversation with its messages and notes",
  response: schemas.responses({ 204: schemas.noContent }, [...schemas.withBody, "conversation_not_found"]),
};

export function conversationRoutes(app: App, resources: Resources): void {
  const { engine, representation } = resources;
  listRoute(app, resources);

  app.get<{ Params: { conversation_id: string } }>(
    "/conversations/:conversation_id",
    { schema: getSchema },
    async (request) => representation.conversation(callerOf(request), request.params.conversation_id),
  );

  updateRoute(app, resources);

  app.delete<{ Params: { conversation_id: string } }>(
    "/conversations/:conversation_id",
    { schema: deleteSchema },
    async (request, reply) => {
      const caller = callerOf(request);
      await engine.remove(caller.workspaceId, request.params.conversation_id, keyActor(caller));
      return reply.code(204).send();
    },
  );

  noteRoutes(app, resources);
  messageRoutes(app, resources);
  bulkRoutes(app, resources);
}
