import { Type } from "typebox";
import { Problem } from "#domain/problem.ts";
import { createCursors, listPosition } from "#http/cursor.ts";
import type { App } from "#http/app-type.ts";
import type { DocumentRow } from "./representation.ts";
import type { Resources } from "./resources.ts";
import { callerOf } from "./resources.ts";
import * as schemas from "./schemas.ts";
import { receiveUpload } from "./upload.ts";
import { checkWorkspaceId } from "./workspace-id.ts";

/** Each holds a part of its file in memory, and the database busy. */
const uploadsMax = 8;

/** The knowledge base's documents. */
export function documentRoutes(app: App, resources: Resources): void {
  const { store, documents, representation } = resources;
  const cursors = createCursors(resources.cursorKey, "documents", listPosition);
  const single = Type.Object({ document: schemas.document }, { title: "DocumentResult" });
  let uploads = 0;

  app.post(
    "/documents/upload",
    {
      config: { workspaceId: "optional" },
      onRequest: (request, _reply, done) => {
        if (/^multipart\/form-data\s*(?:;|$)/i.test(request.headers["content-type"] ?? "")) done();
        else
          done(new Problem("unsupported_media_type", "The body must be multipart/form-data with a part named file."));
      },
      schema: {
        tags: ["Documents"],
        operationId: "uploadDocument",
        summary: "Add a file to the knowledge base",
        description:
          "multipart/form-data with the part `file` (at most 25 MB); optional fields `workspace_id` and `audience` (may be repeated). A file of the same name replaces the earlier one once it is indexed.",
        response: schemas.responses({ 202: single }, [
          ...schemas.withWorkspaceId,
          "payload_too_large",
          "request_timeout",
          "storage_full",
          "unsupported_media_type",
        ]),
      },
    },
    async (request, reply) => {
      const caller = callerOf(request);
      if (uploads >= uploadsMax) {
        throw new Problem("too_many_concurrent_requests", `At most ${uploadsMax} uploads are taken at a time.`, {
          retryAfterS: 2,
        });
      }
      uploads += 1;
      try {
        const workspace = (named: unknown): Promise<void> =>
          checkWorkspaceId(store.read, named, caller.workspaceId, "optional");
        const { file, audience } = await receiveUpload(request, documents, { workspace });
        if (file === undefined) throw new Problem("missing_field", "file is required: a part with a file name.");
        const { id } = await addOrDiscard({
          workspaceId: caller.workspaceId,
          ...file,
          ...(audience === undefined ? {} : { audience }),
        });
        return await reply.code(202).send({ document: representation.document(await find(caller.workspaceId, id)) });
      } finally {
        uploads -= 1;
      }
    },
  );

  const crawlBody = Type.Object(
    {
      url: Type.String({ minLength: 1, maxLength: 2_000, description: "Where the website begins" }),
      max_pages: Type.Optional(
        Type.Integer({ minimum: 1, maximum: 1_000, default: 50, description: "Pages that are kept, at most" }),
      ),
      audience: Type.Optional(
        Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
          maxItems: 50,
          allowed: "an array of audience tags",
        }),
      ),
      sitemap: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 2_000,
          description: "Address of the website's sitemap; absent: as robots.txt says, else /sitemap.xml",
        }),
      ),
      workspace_id: Type.Optional(Type.String()),
    },
    { title: "NewWebsite" },
  );

  app.post<{ Body: Type.Static<typeof crawlBody> }>(
    "/documents/crawl",
    {
      config: { workspaceId: "optional" },
      schema: {
        tags: ["Documents"],
        operationId: "crawlWebsite",
        summary: "Add a website to the knowledge base",
        description:
          "The pages of one site are read in the background, as its robots.txt allows; sources of answers name the page. A website that is there already is gone through again.",
        body: crawlBody,
        response: schemas.responses({ 202: single }, [
          ...schemas.withBody,
          ...schemas.withWorkspaceId,
          "invalid_audience",
        ]),
      },
    },
    async (request, reply) => {
      const { workspaceId } = callerOf(request);
      const { url, max_pages: maxPages, audience, sitemap } = request.body;
      const { id } = await documents.crawl({
        workspaceId,
        url,
        ...(maxPages === undefined ? {} : { maxPages }),
        ...(audience === undefined ? {} : { audience }),
        ...(sitemap === undefined ? {} : { sitemap }),
      });
      return reply.code(202).send({ document: representation.document(await find(workspaceId, id)) });
    },
  );

  app.post<{ Params: { document_id: string } }>(
    "/documents/:document_id/recrawl",
    {
      config: { workspaceId: "optional" },
      schema: {
        tags: ["Documents"],
        operationId: "recrawlWebsite",
        summary: "Go through a website again",
        description:
          "Its pages go on answering meanwhile. A request during a crawl starts one more crawl when that one ends, however many requests there were.",
        response: schemas.responses({ 202: single }, [
          ...schemas.withBody,
          ...schemas.withWorkspaceId,
          "document_not_found",
          "not_a_website",
        ]),
      },
    },
    async (request, reply) => {
      const { workspaceId } = callerOf(request);
      const recrawled = await documents.recrawl(workspaceId, request.params.document_id);
      if (recrawled === undefined) throw documentNotFound();
      return reply.code(202).send({ document: representation.document(await find(workspaceId, recrawled.id)) });
    },
  );

  const listQuery = Type.Object({
    workspace_id: Type.Optional(Type.String()),
    status: Type.Optional(schemas.documentStatus),
    limit: schemas.listLimit(20),
    cursor: schemas.listCursor,
  });

  app.get(
    "/documents",
    {
      config: { workspaceId: "optional" },
      schema: {
        tags: ["Documents"],
        operationId: "listDocuments",
        summary: "List documents, newest first",
        querystring: listQuery,
        response: schemas.responses(
          {
            200: Type.Object(
              { documents: Type.Array(schemas.document), pagination: schemas.pagination },
              { title: "DocumentList" },
            ),
          },
          [...schemas.withWorkspaceId, "invalid_cursor"],
        ),
      },
    },
    async (request) => {
      const { status, limit = 20, cursor } = request.query;
      const { workspaceId } = callerOf(request);
      const list = { workspaceId, status };
      const position = cursor === undefined ? undefined : cursors.read(list, cursor);
      if (position !== undefined && "end" in position) {
        return { documents: [], pagination: { next_cursor: cursor, has_more: false } };
      }
      let query = store.read
        .selectFrom("documents")
        .selectAll()
        .where("workspace_id", "=", workspaceId)
        // The website is listed, not its pages.
        .where("parent_id", "is", null);
      if (status !== undefined) query = query.where("status", "=", status);
      if (position !== undefined) {
        query = query.where((eb) =>
          eb.and([
            eb("created_at", "<=", position.at),
            eb.or([eb("created_at", "<", position.at), eb("id", "<", position.id)]),
          ]),
        );
      }
      const rows = await query
        .orderBy("created_at", "desc")
        .orderBy("id", "desc")
        .limit(limit + 1)
        .execute();
      const page = rows.slice(0, limit);
      const last = page.at(-1);
      const next = last === undefined ? (position ?? { end: true as const }) : { at: last.created_at, id: last.id };
      return {
        documents: page.map((row) => representation.document(row)),
        pagination: { next_cursor: cursors.issue(list, next), has_more: rows.length > limit },
      };
    },
  );

  app.get<{ Params: { document_id: string } }>(
    "/documents/:document_id",
    {
      config: { workspaceId: "optional" },
      schema: {
        tags: ["Documents"],
        operationId: "getDocument",
        summary: "Read one document's state",
        response: schemas.responses({ 200: single }, [...schemas.withWorkspaceId, "document_not_found"]),
      },
    },
    async (request) => ({
      document: representation.document(await find(callerOf(request).workspaceId, request.params.document_id)),
    }),
  );

  app.delete<{ Params: { document_id: string } }>(
    "/documents/:document_id",
    {
      config: { workspaceId: "optional" },
      schema: {
        tags: ["Documents"],
        operationId: "deleteDocument",
        summary: "Remove a document; answers no longer come from it",
        response: schemas.responses({ 204: schemas.noContent }, [
          ...schemas.withBody,
          ...schemas.withWorkspaceId,
          "document_not_found",
        ]),
      },
    },
    async (request, reply) => {
      const removed = await documents.remove(callerOf(request).workspaceId, request.params.document_id);
      if (!removed) throw documentNotFound();
      return reply.code(204).send();
    },
  );

  async function addOrDiscard(document: Parameters<typeof documents.add>[0]): Promise<{ readonly id: string }> {
    try {
      return await documents.add(document);
    } catch (error) {
      await documents.discard(document.body);
      throw error;
    }
  }

  async function find(workspaceId: string, id: string): Promise<DocumentRow> {
    const row = await store.read
      .selectFrom("documents")
      .selectAll()
      .where("id", "=", id)
      .where("workspace_id", "=", workspaceId)
      .where("parent_id", "is", null)
      .executeTakeFirst();
    if (row === undefined) throw documentNotFound();
    return row;
  }
}

export function documentNotFound(): Problem {
  return new Problem("document_not_found", "There is no document with this id.");
}
