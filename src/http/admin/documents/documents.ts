import { Type } from "typebox";
import { storedSettings } from "#domain/workspace/settings.ts";
import type { Reader } from "#database/contract.ts";
import { administratorOf } from "#http/admin/administrator.ts";
import { adminResponses } from "#http/admin/schemas.ts";
import type { App } from "#http/app-type.ts";
import { documentNotFound } from "#http/v1/documents/find.ts";
import { createDocumentPages } from "#http/v1/documents/list.ts";
import type { Resources } from "#http/v1/resources.ts";
import { callerOf } from "#http/v1/resources.ts";
import * as schemas from "#http/v1/schemas.ts";
import { documentItems, recorderOf, shownDocument } from "./representation.ts";
import { adminDocument, documentKind, documentParams, documentTitle, oneAdminDocument, searchText } from "./schemas.ts";

const removedMax = 100;

const listSchema = {
  tags: ["Administration"],
  operationId: "listAdminDocuments",
  summary: "List documents with their progress, newest first",
  querystring: Type.Object({
    status: Type.Optional(schemas.documentStatus),
    kind: Type.Optional(documentKind),
    tag: Type.Optional(Type.String({ minLength: 1, maxLength: 64, description: "An audience tag" })),
    q: searchText,
    limit: schemas.listLimit(20),
    cursor: schemas.listCursor,
  }),
  response: adminResponses(
    {
      200: Type.Object(
        { documents: Type.Array(adminDocument), pagination: schemas.pagination },
        { title: "AdminDocumentList" },
      ),
    },
    ["invalid_cursor"],
  ),
};

const tagsSchema = {
  tags: ["Administration"],
  operationId: "listAudienceTags",
  summary: "List the audience tags of documents and of the workspace's rules",
  response: adminResponses({ 200: Type.Object({ tags: Type.Array(Type.String()) }, { title: "AudienceTagList" }) }, []),
};

const getSchema = {
  tags: ["Administration"],
  operationId: "getAdminDocument",
  summary: "Read one document's state and progress",
  params: documentParams,
  response: adminResponses({ 200: oneAdminDocument }, ["document_not_found"]),
};

const changeSchema = {
  tags: ["Administration"],
  operationId: "changeDocument",
  summary: "Change a document's title or audience; its text is not read again",
  params: documentParams,
  body: Type.Object(
    {
      title: Type.Optional(documentTitle),
      audience: Type.Optional(schemas.audience),
    },
    { title: "DocumentChange" },
  ),
  response: adminResponses({ 200: oneAdminDocument }, [...schemas.withBody, "document_not_found", "invalid_audience"]),
};

const deleteSchema = {
  tags: ["Administration"],
  operationId: "removeDocument",
  summary: "Remove a document; answers no longer come from it",
  params: documentParams,
  response: adminResponses({ 204: schemas.noContent }, [...schemas.withBody, "document_not_found"]),
};

const deleteManySchema = {
  tags: ["Administration"],
  operationId: "removeDocuments",
  summary: "Remove several documents",
  body: Type.Object(
    { document_ids: Type.Array(Type.String({ maxLength: 64 }), { minItems: 1, maxItems: removedMax }) },
    { title: "DocumentRemoval" },
  ),
  response: adminResponses(
    {
      200: Type.Object(
        { removed: Type.Array(Type.String({ description: "Documents that existed" })) },
        { title: "RemovedDocuments" },
      ),
    },
    schemas.withBody,
  ),
};

/** Lists, changes and removes documents of the knowledge base. */
export function documentRoutes(app: App, resources: Resources): void {
  const { store, clock, documents } = resources;
  const page = createDocumentPages(resources, "admin documents");

  app.get("/documents", { config: { least: "viewer" }, schema: listSchema }, async (request) => {
    const { status, kind, tag, q: text, limit = 20, cursor } = request.query;
    const list = { workspaceId: administratorOf(request).workspaceId, status, kind, tag, text };
    const { rows, pagination } = await page(list, { limit, cursor });
    return { documents: await documentItems(resources, rows), pagination };
  });

  app.get("/documents/tags", { config: { least: "viewer" }, schema: tagsSchema }, async (request) => {
    const { workspaceId, settings } = callerOf(request);
    const declared = Object.keys(storedSettings(settings).audiences).map((tag) => tag.trim().toLowerCase());
    return { tags: [...new Set([...declared, ...(await tagsInUse(store.read, workspaceId))])].toSorted() };
  });

  app.get("/documents/:document_id", { config: { least: "viewer" }, schema: getSchema }, async (request) =>
    shownDocument(resources, administratorOf(request).workspaceId, request.params.document_id),
  );

  app.patch("/documents/:document_id", { schema: changeSchema }, async (request) => {
    const { workspaceId } = administratorOf(request);
    const id = request.params.document_id;
    const changed = await documents.change(workspaceId, id, request.body, recorderOf(request, clock));
    if (changed === undefined) throw documentNotFound();
    return shownDocument(resources, workspaceId, id);
  });

  app.delete("/documents/:document_id", { schema: deleteSchema }, async (request, reply) => {
    const { workspaceId } = administratorOf(request);
    const removed = await documents.remove(workspaceId, request.params.document_id, recorderOf(request, clock));
    if (!removed) throw documentNotFound();
    return reply.code(204).send();
  });

  app.post("/documents/remove", { schema: deleteManySchema }, async (request) => {
    const { workspaceId } = administratorOf(request);
    const removed: string[] = [];
    // A transaction each: a website can have a thousand pages.
    for (const id of new Set(request.body.document_ids)) {
      if (await documents.remove(workspaceId, id, recorderOf(request, clock))) removed.push(id);
    }
    return { removed };
  });
}

async function tagsInUse(db: Reader, workspaceId: string): Promise<readonly string[]> {
  const rows = await db
    .selectFrom("documents")
    .select("audience")
    .distinct()
    .where("workspace_id", "=", workspaceId)
    .where("parent_id", "is", null)
    .execute();
  return rows.flatMap(({ audience }) => JSON.parse(audience) as readonly string[]);
}
