import type { FastifyRequest } from "fastify";
import { Problem } from "#domain/problem.ts";
import type { App } from "#http/app-type.ts";
import type { RecordDocumentChange } from "#http/dependencies.ts";
import type { Caller } from "#http/v1/access/auth.ts";
import type { Resources } from "#http/v1/resources.ts";
import { callerOf } from "#http/v1/resources.ts";
import * as schemas from "#http/v1/schemas.ts";
import { checkWorkspaceId } from "#http/v1/workspace-id.ts";
import { findDocument } from "./find.ts";
import { receiveForm } from "./form.ts";

/** Each upload holds a part of its file in memory, and the database busy. */
const uploadsMax = 8;

const uploadSchema = {
  tags: ["Documents"],
  operationId: "uploadDocument",
  summary: "Add a file to the knowledge base",
  description:
    "multipart/form-data with the part `file` (at most 25 MB); optional fields `workspace_id` and `audience` (may be repeated). A file of the same name replaces the earlier one once it is indexed.",
  response: schemas.responses({ 202: schemas.oneDocument }, [
    ...schemas.withWorkspaceId,
    "payload_too_large",
    "request_timeout",
    "storage_full",
    "unsupported_media_type",
  ]),
};

export function uploadRoute(app: App, resources: Resources): void {
  const { store, representation } = resources;
  const upload = createUploads(resources);

  app.post(
    "/documents/upload",
    {
      config: { workspaceId: "optional" },
      onRequest: (request, _reply, done) => done(requireForm(request)),
      schema: uploadSchema,
    },
    async (request, reply) => {
      const id = await upload(request);
      const document = await findDocument(store.read, callerOf(request).workspaceId, id);
      return reply.code(202).send({ document: representation.document(document) });
    },
  );
}

/** Takes the file of a request, and returns the document's id. */
export function createUploads(
  resources: Pick<Resources, "store" | "documents">,
): (request: FastifyRequest, record?: RecordDocumentChange) => Promise<string> {
  let uploads = 0;
  return async (request, record) => {
    if (uploads >= uploadsMax) {
      throw new Problem("too_many_concurrent_requests", `At most ${uploadsMax} uploads are taken at a time.`, {
        retryAfterS: 2,
      });
    }
    uploads += 1;
    try {
      return await addUploaded(resources, callerOf(request), request, record);
    } finally {
      uploads -= 1;
    }
  };
}

export function requireForm({ headers }: FastifyRequest): Problem | undefined {
  if (/^multipart\/form-data\s*(?:;|$)/i.test(headers["content-type"] ?? "")) return undefined;
  return new Problem("unsupported_media_type", "The body must be multipart/form-data with a part named file.");
}

async function addUploaded(
  { store, documents }: Pick<Resources, "store" | "documents">,
  { workspaceId }: Caller,
  request: FastifyRequest,
  record: RecordDocumentChange | undefined,
): Promise<string> {
  const { file, audience } = await receiveForm(request, documents, (named) =>
    checkWorkspaceId(store.read, named, workspaceId, "optional"),
  );
  if (file === undefined) throw new Problem("missing_field", "file is required: a part with a file name.");
  try {
    const upload = { workspaceId, ...file, ...(audience === undefined ? {} : { audience }) };
    const { id } = await documents.add(upload, record);
    return id;
  } catch (error) {
    await documents.discard(file.body);
    throw error;
  }
}
