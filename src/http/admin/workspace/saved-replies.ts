import { Type } from "typebox";
import { addSavedReply, changeSavedReply, listSavedReplies, removeSavedReply } from "#admin/settings/saved-replies.ts";
import { editOf } from "#http/admin/administrator.ts";
import { adminResponses } from "#http/admin/schemas.ts";
import type { App } from "#http/app-type.ts";
import type { Resources } from "#http/v1/resources.ts";
import * as schemas from "#http/v1/schemas.ts";

const name = Type.String({ minLength: 1, maxLength: 40, description: "Without spaces and capitals" });
const text = Type.String({ minLength: 1, maxLength: 4_000, description: "Markdown with {customer} and {agent}" });
const reply = Type.Object({ name, text }, { title: "SavedReply" });
const params = Type.Object({ name: Type.String({ description: "The name" }) });
const ownCodes = [...schemas.withBody, "managed_by_file", "already_exists"] as const;

const listSchema = {
  tags: ["Administration"],
  operationId: "listSavedReplies",
  summary: "List the saved replies by name",
  response: adminResponses(
    {
      200: Type.Object(
        { saved_replies: Type.Array(reply), managed_by_file: Type.Boolean() },
        { title: "SavedReplyList" },
      ),
    },
    [],
  ),
};

const addSchema = {
  tags: ["Administration"],
  operationId: "createSavedReply",
  summary: "Create a saved reply",
  body: Type.Object({ name, text }, { title: "SavedReplyRequest" }),
  response: adminResponses({ 201: reply }, ownCodes),
};

const changeSchema = {
  tags: ["Administration"],
  operationId: "updateSavedReply",
  summary: "Change a saved reply",
  params,
  body: Type.Object({ name: Type.Optional(name), text: Type.Optional(text) }, { title: "SavedReplyUpdate" }),
  response: adminResponses({ 200: reply }, ownCodes),
};

const removeSchema = {
  tags: ["Administration"],
  operationId: "deleteSavedReply",
  summary: "Remove a saved reply",
  params,
  response: adminResponses({ 204: schemas.noContent }, ["managed_by_file"]),
};

/** Texts that agents insert into a reply. */
export function savedReplyRoutes(app: App, dependencies: Resources): void {
  app.get("/saved-replies", { config: { least: "viewer" }, schema: listSchema }, (request) =>
    listSavedReplies(dependencies.store.read, editOf(request).workspaceId),
  );
  app.post("/saved-replies", { schema: addSchema }, async (request, reply_) =>
    reply_.code(201).send(await addSavedReply(dependencies, editOf(request), request.body)),
  );
  app.patch("/saved-replies/:name", { schema: changeSchema }, (request) =>
    changeSavedReply(dependencies, editOf(request), request.params.name, request.body),
  );
  app.delete("/saved-replies/:name", { schema: removeSchema }, async (request, reply_) => {
    await removeSavedReply(dependencies, editOf(request), request.params.name);
    return reply_.code(204).send();
  });
}
