import { Type } from "typebox";
import type { App } from "#http/app-type.ts";
import type { Resources } from "#http/v1/resources.ts";
import { callerOf } from "#http/v1/resources.ts";
import * as schemas from "#http/v1/schemas.ts";
import { crawlRoutes } from "./crawl.ts";
import { documentNotFound, findDocument } from "./find.ts";
import { createDocumentPages } from "./list.ts";
import { uploadRoute } from "./upload.ts";

const listSchema = {
  tags: ["Documents"],
  operationId: "listDocuments",
  summary: "List documents, newest first",
  querystring: Type.Object({
    workspace_id: Type.Optional(Type.String()),
    status: Type.Optional(schemas.documentStatus),
    limit: schemas.listLimit(20),
    cursor: schemas.listCursor,
  }),
  response: schemas.responses(
    {
      200: Type.Object(
        { documents: Type.Array(schemas.document), pagination: schemas.pagination },
        { title: "DocumentList" },
      ),
    },
    [...schemas.withWorkspaceId, "invalid_cursor"],
  ),
};

const getSchema = {
  tags: ["Documents"],
  operationId: "getDocument",
  summary: "Read one document's state",
  response: schemas.responses({ 200: schemas.oneDocument }, [...schemas.withWorkspaceId, "document_not_found"]),
};

const deleteSchema = {
  tags: ["Documents"],
  operationId: "deleteDocument",
  summary: "Remove a document; answers no longer come from it",
  response: schemas.responses({ 204: schemas.noContent }, [
    ...schemas.withBody,
    ...schemas.withWorkspaceId,
    "document_not_found",
  ]),
};

/** Files and websites of the knowledge base. */
export function documentRoutes(app: App, resources: Resources): void {
  const { store, documents, representation } = resources;
  const page = createDocumentPages(resources, "documents");
  uploadRoute(app, resources);
  crawlRoutes(app, resources);

  app.get("/documents", { config: { workspaceId: "optional" }, schema: listSchema }, async (request) => {
    const { status, limit = 20, cursor } = request.query;
    const list = { workspaceId: callerOf(request).workspaceId, status };
    const { rows, pagination } = await page(list, { limit, cursor });
    return { documents: rows.map((row) => representation.document(row)), pagination };
  });

  app.get<{ Params: { document_id: string } }>(
    "/documents/:document_id",
    { config: { workspaceId: "optional" }, schema: getSchema },
    async (request) => {
      const row = await findDocument(store.read, callerOf(request).workspaceId, request.params.document_id);
      return { document: representation.document(row) };
    },
  );

  app.delete<{ Params: { document_id: string } }>(
    "/documents/:document_id",
    { config: { workspaceId: "optional" }, schema: deleteSchema },
    async (request, reply) => {
      const removed = await documents.remove(callerOf(request).workspaceId, request.params.document_id);
      if (!removed) throw documentNotFound();
      return reply.code(204).send();
    },
  );
}
