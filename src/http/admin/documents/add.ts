import { Type } from "typebox";
import { administratorOf } from "#http/admin/administrator.ts";
import { adminResponses } from "#http/admin/schemas.ts";
import type { App } from "#http/app-type.ts";
import { crawlFields, siteOf } from "#http/v1/documents/crawl.ts";
import { documentNotFound } from "#http/v1/documents/find.ts";
import { createUploads, requireForm } from "#http/v1/documents/upload.ts";
import type { Resources } from "#http/v1/resources.ts";
import * as schemas from "#http/v1/schemas.ts";
import { recorderOf, shownDocument } from "./representation.ts";
import { documentParams, oneAdminDocument } from "./schemas.ts";

const uploadSchema = {
  tags: ["Administration"],
  operationId: "addFile",
  summary: "Add a file to the knowledge base",
  description:
    "multipart/form-data with the part `file` (at most 25 MB); the optional field `audience` may be repeated. A file of the same name replaces the earlier one once it is indexed.",
  response: adminResponses({ 202: oneAdminDocument }, [
    ...schemas.withWorkspaceId,
    "payload_too_large",
    "request_timeout",
    "storage_full",
    "unsupported_media_type",
  ]),
};

const crawlSchema = {
  tags: ["Administration"],
  operationId: "addWebsite",
  summary: "Add a website to the knowledge base",
  body: Type.Object(crawlFields, { title: "AddedWebsite" }),
  response: adminResponses({ 202: oneAdminDocument }, [...schemas.withBody, "invalid_audience"]),
};

const recrawlSchema = {
  tags: ["Administration"],
  operationId: "crawlAgain",
  summary: "Go through a website again; its pages stay in use meanwhile",
  params: documentParams,
  response: adminResponses({ 202: oneAdminDocument }, [...schemas.withBody, "document_not_found", "not_a_website"]),
};

/** Adds files and websites, as the API does, and records who did. */
export function documentAddRoutes(app: App, resources: Resources): void {
  const { clock, documents } = resources;
  const upload = createUploads(resources);

  app.post(
    "/documents/upload",
    { onRequest: (request, _reply, done) => done(requireForm(request)), schema: uploadSchema },
    async (request, reply) => {
      const id = await upload(request, recorderOf(request, clock));
      return reply.code(202).send(await shownDocument(resources, administratorOf(request).workspaceId, id));
    },
  );

  app.post("/documents/crawl", { schema: crawlSchema }, async (request, reply) => {
    const { workspaceId } = administratorOf(request);
    const { id } = await documents.crawl(siteOf(workspaceId, request.body), recorderOf(request, clock));
    return reply.code(202).send(await shownDocument(resources, workspaceId, id));
  });

  app.post("/documents/:document_id/recrawl", { schema: recrawlSchema }, async (request, reply) => {
    const { workspaceId } = administratorOf(request);
    const id = request.params.document_id;
    const recrawled = await documents.recrawl(workspaceId, id, recorderOf(request, clock));
    if (recrawled === undefined) throw documentNotFound();
    return reply.code(202).send(await shownDocument(resources, workspaceId, id));
  });
}
