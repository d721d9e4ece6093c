import type { FastifyRequest } from "fastify";
import { Problem } from "#domain/problem.ts";
import type { DocumentService, StoredBytes } from "#http/dependencies.ts";
import { linger } from "#http/middleware/linger.ts";
import { unknownName } from "#http/middleware/unknown-fields.ts";

const fileBytesMax = 25 * 1_048_576;

export const formLimits = {
  // One more, so that the end of a file of exactly the limit is seen as such.
  fileSize: fileBytesMax + 1,
  files: 1,
  fields: 60,
  fieldSize: 4_096,
  fieldNameSize: 100,
  parts: 61,
};

const formFields = ["file", "workspace_id", "audience"];

export interface Upload {
  /** Undefined: the form held none. */
  readonly file: { readonly fileName: string; readonly mediaType: string; readonly body: StoredBytes } | undefined;
  readonly workspaceIds: readonly string[];
  /** Absent where the form has no such field. */
  readonly audience?: readonly string[];
}

type Checks = {
  /** Throws where the workspace is not the caller's. */
  workspace(id: string): Promise<void>;
};

/**
 * Reads the form as it arrives, its fields in any order; the file goes to the shelf part by part, and what is refused is
 * refused before it is read. Whatever throws leaves nothing on the shelf.
 */
export async function receiveUpload(request: FastifyRequest, shelf: DocumentService, checks: Checks): Promise<Upload> {
  let file: Upload["file"];
  const workspaceIds: string[] = [];
  let audience: string[] | undefined;
  try {
    for await (const part of request.parts()) {
      if (part.type === "file") {
        if (part.fieldname !== "file")
          throw new Problem("invalid_parameter", "The file must be in the part named file.");
        const fileName = baseName(part.filename);
        shelf.checkType(fileName, part.mimetype);
        file = { fileName, mediaType: part.mimetype, body: await shelf.receive(part.file) };
      } else if (part.fieldname === "workspace_id") {
        workspaceIds.push(String(part.value));
        await checks.workspace(String(part.value));
      } else if (part.fieldname === "audience") {
        audience = [...(audience ?? []), ...String(part.value).split(",")];
      } else {
        const problem = unknownName({ [part.fieldname]: part.value }, formFields, "field");
        if (problem !== undefined) throw problem;
      }
    }
  } catch (error) {
    if (file !== undefined) await shelf.discard(file.body);
    linger(request);
    // What the form's parser throws has no code of its own: the form broke off, or is none.
    if (error instanceof Error && !(error instanceof Problem) && !("code" in error)) {
      throw new Problem("invalid_parameter", "The multipart body is broken or incomplete.", { cause: error });
    }
    throw error;
  }
  return { file, workspaceIds, ...(audience === undefined ? {} : { audience }) };
}

/** Some browsers send a path; and a name is shown to people, so it holds no control characters. */
function baseName(name: string): string {
  const base = name.split(/[/\\]/).at(-1) ?? "";
  // oxlint-disable-next-line no-control-regex -- they are what is taken out.
  const clean = base.replaceAll(/[\u0000-\u001f\u007f]/g, "").trim();
  return clean.length <= 180 ? clean : `${clean.slice(0, 100)}…${clean.slice(-60)}`;
}
