import { Type } from "typebox";
import { administratorOf } from "#http/admin/administrator.ts";
import { adminResponses } from "#http/admin/schemas.ts";
import type { App } from "#http/app-type.ts";
import { documentNotFound } from "#http/v1/documents/find.ts";
import type { Resources } from "#http/v1/resources.ts";
import * as schemas from "#http/v1/schemas.ts";
import { recorderOf, shownDocument } from "./representation.ts";
import { documentParams, documentTitle, oneAdminDocument } from "./schemas.ts";

const articleFields = {
  title: documentTitle,
  content: Type.String({
    minLength: 1,
    maxLength: 200_000,
    pattern: "\\S",
    allowed: "a text of 1 to 200,000 characters",
    description: "Markdown",
  }),
  audience: Type.Optional(schemas.audience),
};

const createSchema = {
  tags: ["Administration"],
  operationId: "createArticle",
  summary: "Write an article for the knowledge base",
  body: Type.Object(articleFields, { title: "NewArticle" }),
  response: adminResponses({ 202: oneAdminDocument }, [...schemas.withBody, "invalid_audience"]),
};

const saveSchema = {
  tags: ["Administration"],
  operationId: "saveArticle",
  summary: "Save a new version of an article or of an uploaded text file",
  description: "The old version answers until the new one is indexed.",
  params: documentParams,
  body: Type.Object(
    {
      ...articleFields,
      based_on: Type.String({ minLength: 1, maxLength: 64, description: "`version` of the content that was edited" }),
    },
    { title: "ArticleEdit" },
  ),
  response: adminResponses({ 202: oneAdminDocument }, [
    ...schemas.withBody,
    "document_not_found",
    "invalid_audience",
    "not_editable",
    "edit_conflict",
  ]),
};

const contentSchema = {
  tags: ["Administration"],
  operationId: "getDocumentContent",
  summary: "Read the text of an article or of an uploaded text file",
  params: documentParams,
  response: adminResponses(
    { 200: Type.Object({ content: Type.String(), version: Type.String() }, { title: "DocumentContent" }) },
    ["document_not_found", "not_editable"],
  ),
};

/** Documents that are written in the dashboard. */
export function articleRoutes(app: App, resources: Resources): void {
  const { clock, documents } = resources;

  app.post("/documents/articles", { schema: createSchema }, async (request, reply) => {
    const { workspaceId } = administratorOf(request);
    const { title, content, audience = [] } = request.body;
    const article = { title, content, audience };
    const { id } = await documents.addArticle(workspaceId, article, recorderOf(request, clock));
    return reply.code(202).send(await shownDocument(resources, workspaceId, id));
  });

  app.put("/documents/articles/:document_id", { schema: saveSchema }, async (request, reply) => {
    const { workspaceId } = administratorOf(request);
    const id = request.params.document_id;
    const { title, content, audience, based_on: basedOn } = request.body;
    const edit = { title, content, basedOn, ...(audience === undefined ? {} : { audience }) };
    const saved = await documents.saveArticle(workspaceId, id, edit, recorderOf(request, clock));
    if (saved === undefined) throw documentNotFound();
    return reply.code(202).send(await shownDocument(resources, workspaceId, id));
  });

  app.get(
    "/documents/:document_id/content",
    { config: { least: "viewer" }, schema: contentSchema },
    async (request) => {
      const content = await documents.content(administratorOf(request).workspaceId, request.params.document_id);
      if (content === undefined) throw documentNotFound();
      return { content: content.text, version: content.version };
    },
  );
}
