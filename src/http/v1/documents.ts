import type { FastifyRequest } from "fastify";
import { Type } from "typebox";
import { Problem } from "#domain/problem.ts";
import { createCursors, listPosition } from "../cursor.ts";
import type { App } from "../server.ts";
import type { DocumentRow } from "./representation.ts";
import type { Resources } from "./resources.ts";
import { callerOf } from "./resources.ts";
import * as schemas from "./schemas.ts";
import { checkWorkspaceId } from "./workspace-id.ts";

const fileBytesMax = 25 * 1_048_576;

export const formLimits = {
  fileSize: fileBytesMax,
  files: 1,
  fields: 60,
  fieldSize: 4_096,
  fieldNameSize: 100,
  parts: 61,
};

/** Each holds its file in memory until it is stored. */
const uploadsMax = 8;

/** The knowledge base's documents. */
export function documentRoutes(app: App, resources: Resources): void {
  const { store, documents, representation } = resources;
  const cursors = createCursors(resources.cursorKey, "documents", listPosition);
  const single = Type.Object({ document: schemas.document });
  let uploads = 0;

  app.post(
    "/documents/upload",
    {
      schema: {
        tags: ["Documents"],
        summary: "Add a file to the knowledge base",
        description:
          "multipart/form-data with the part `file` (at most 25 MB); optional fields `workspace_id` and `audience` (may be repeated). A file of the same name replaces the earlier one once it is indexed.",
        response: schemas.responses({ 202: single }, [
          ...schemas.withWorkspaceId,
          "invalid_parameter",
          "payload_too_large",
          "unsupported_media_type",
        ]),
      },
    },
    async (request, reply) => {
      const caller = callerOf(request);
      if (!request.isMultipart()) {
        throw new Problem("unsupported_media_type", "The body must be multipart/form-data with a part named file.");
      }
      if (uploads >= uploadsMax) {
        throw new Problem("too_many_concurrent_requests", `At most ${uploadsMax} uploads are taken at a time.`, {
          retryAfterS: 2,
        });
      }
      uploads += 1;
      try {
        const { file, workspaceIds, audience } = await readForm(request);
        for (const named of [...workspaceIds, (request.query as Readonly<Record<string, unknown>>)["workspace_id"]]) {
          await checkWorkspaceId(store.read, named, caller.workspaceId, "optional");
        }
        if (file === undefined) throw new Problem("missing_field", "file is required: a part with a file name.");
        const { id } = await documents.add({ workspaceId: caller.workspaceId, ...file, audience });
        return await reply.code(202).send({ document: representation.document(await find(caller.workspaceId, id)) });
      } finally {
        uploads -= 1;
      }
    },
  );

  const listQuery = Type.Object({
    workspace_id: Type.Optional(Type.String()),
    status: Type.Optional(Type.Enum(["pending", "processing", "indexed", "failed"])),
    limit: schemas.listLimit(20),
    cursor: schemas.listCursor,
  });

  app.get(
    "/documents",
    {
      config: { workspaceId: "optional" },
      schema: {
        tags: ["Documents"],
        summary: "List documents, newest first",
        querystring: listQuery,
        response: schemas.responses(
          { 200: Type.Object({ documents: Type.Array(schemas.document), pagination: schemas.pagination }) },
          [...schemas.withWorkspaceId, "invalid_parameter", "invalid_cursor"],
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
      let query = store.read.selectFrom("documents").selectAll().where("workspace_id", "=", workspaceId);
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
        summary: "Remove a document; answers no longer come from it",
        response: schemas.responses({ 204: schemas.noContent }, [...schemas.withWorkspaceId, "document_not_found"]),
      },
    },
    async (request, reply) => {
      const removed = await documents.remove(callerOf(request).workspaceId, request.params.document_id);
      if (!removed) throw documentNotFound();
      return reply.code(204).send();
    },
  );

  async function find(workspaceId: string, id: string): Promise<DocumentRow> {
    const row = await store.read
      .selectFrom("documents")
      .selectAll()
      .where("id", "=", id)
      .where("workspace_id", "=", workspaceId)
      .executeTakeFirst();
    if (row === undefined) throw documentNotFound();
    return row;
  }
}

export function documentNotFound(): Problem {
  return new Problem("document_not_found", "There is no document with this id.");
}

interface Form {
  readonly file: { readonly fileName: string; readonly mediaType: string; readonly bytes: Uint8Array } | undefined;
  readonly workspaceIds: readonly string[];
  readonly audience: readonly string[];
}

/** Reads the form as it arrives; of what is too large, no more than the limit is ever held. */
async function readForm(request: FastifyRequest): Promise<Form> {
  let file: Form["file"];
  const workspaceIds: string[] = [];
  const audience: string[] = [];
  try {
    for await (const part of request.parts()) {
      if (part.type === "file") {
        const bytes = await part.toBuffer();
        if (part.fieldname !== "file")
          throw new Problem("invalid_parameter", "The file must be in the part named file.");
        file = { fileName: baseName(part.filename), mediaType: part.mimetype, bytes };
      } else if (part.fieldname === "workspace_id") {
        workspaceIds.push(String(part.value));
      } else if (part.fieldname === "audience") {
        audience.push(...String(part.value).split(","));
      }
    }
  } catch (error) {
    // What the form's parser throws has no code of its own: the form broke off, or is none.
    if (error instanceof Error && !(error instanceof Problem) && !("code" in error)) {
      throw new Problem("invalid_parameter", "The multipart body is broken or incomplete.", { cause: error });
    }
    throw error;
  }
  const tags = [...new Set(audience.map((tag) => tag.trim()).filter((tag) => tag !== ""))];
  if (tags.length > 50 || tags.some((tag) => tag.length > 64)) {
    throw new Problem("invalid_parameter", "audience may have at most 50 tags of at most 64 characters.");
  }
  return { file, workspaceIds, audience: tags };
}

/** Some browsers send a path; and a name is shown to people, so it holds no control characters. */
function baseName(name: string): string {
  const base = name.split(/[/\\]/).at(-1) ?? "";
  // oxlint-disable-next-line no-control-regex
  const clean = base.replaceAll(/[\u0000-\u001f\u007f]/g, "").trim();
  return clean.length <= 180 ? clean : `${clean.slice(0, 100)}…${clean.slice(-60)}`;
}
