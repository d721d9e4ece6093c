import { Type } from "typebox";
import { addMacro, changeMacro, listMacros, removeMacro } from "#admin/settings/macros.ts";
import { macroSchema } from "#config/sections/macros.ts";
import { editOf } from "#http/admin/administrator.ts";
import { adminResponses } from "#http/admin/schemas.ts";
import type { App } from "#http/app-type.ts";
import type { Resources } from "#http/v1/resources.ts";
import * as schemas from "#http/v1/schemas.ts";

const macro = Type.Object(macroSchema.properties, { additionalProperties: false, title: "Macro" });
const macroRequest = Type.Object(macroSchema.properties, { additionalProperties: false, title: "MacroRequest" });
const listed = Type.Object(
  {
    ...macroSchema.properties,
    problems: Type.Array(Type.String(), { description: "Why it cannot be applied, such as an agent who was removed" }),
  },
  { title: "ListedMacro" },
);
const params = Type.Object({ name: Type.String({ description: "The name" }) });
const ownCodes = [...schemas.withBody, "managed_by_file", "already_exists"] as const;

const listSchema = {
  tags: ["Administration"],
  operationId: "listMacros",
  summary: "List the macros in their order",
  response: adminResponses(
    { 200: Type.Object({ macros: Type.Array(listed), managed_by_file: Type.Boolean() }, { title: "MacroList" }) },
    [],
  ),
};

const addSchema = {
  tags: ["Administration"],
  operationId: "createMacro",
  summary: "Create a macro behind the others",
  body: macroRequest,
  response: adminResponses({ 201: macro }, ownCodes),
};

const changeSchema = {
  tags: ["Administration"],
  operationId: "updateMacro",
  summary: "Change the given parts of a macro",
  params,
  body: Type.Partial(macroRequest, { title: "MacroUpdate", additionalProperties: false }),
  response: adminResponses({ 200: macro }, ownCodes),
};

const removeSchema = {
  tags: ["Administration"],
  operationId: "deleteMacro",
  summary: "Remove a macro",
  params,
  response: adminResponses({ 204: schemas.noContent }, ["managed_by_file"]),
};

/** Macros, which agents apply in the inbox, in the form of the configuration file. */
export function macroRoutes(app: App, dependencies: Resources): void {
  app.get("/macros", { config: { least: "viewer" }, schema: listSchema }, async (request) => {
    const { macros, managed_by_file } = await listMacros(dependencies.store.read, editOf(request).workspaceId);
    return { macros: macros.map((each) => ({ ...each, problems: [...each.problems] })), managed_by_file };
  });
  app.post("/macros", { schema: addSchema }, async (request, reply) =>
    reply.code(201).send(await addMacro(dependencies, editOf(request), request.body)),
  );
  app.patch("/macros/:name", { schema: changeSchema }, (request) =>
    changeMacro(dependencies, editOf(request), request.params.name, request.body),
  );
  app.delete("/macros/:name", { schema: removeSchema }, async (request, reply) => {
    await removeMacro(dependencies, editOf(request), request.params.name);
    return reply.code(204).send();
  });
}
