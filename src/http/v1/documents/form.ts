import type { FastifyRequest } from "fastify";
import { Problem } from "#domain/problem.ts";
import type { DocumentService, StoredBytes } from "#http/dependencies.ts";
import { linger } from "#http/middleware/bodies/linger.ts";
import { unknownName } from "#http/middleware/unknown-fields.ts";

const fileBytesMax = 25 * 1_048_576;

export const formLimits = {
  // One byte more, or a file of exactly the limit would count as cut off.
  fileSize: fileBytesMax + 1,
  files: 1,
  fields: 60,
  fieldSize: 4_096,
  fieldNameSize: 100,
  parts: 61,
};

const formFields = ["file", "workspace_id", "audience"];

export interface UploadForm {
  /** Undefined: the form has no file. */
  readonly file: { readonly fileName: string; readonly mediaType: string; readonly body: StoredBytes } | undefined;
  /** Absent if the form has no such field. */
  readonly audience?: readonly string[];
}

/**
 * Reads the form while it arrives, its fields in any order, and stores the file as a stream. Bad fields and types are
 * refused before the rest is read. A failure leaves no stored bytes.
 */
export async function receiveForm(
  request: FastifyRequest,
  documents: Pick<DocumentService, "checkType" | "receive" | "discard">,
  checkWorkspace: (id: string) => Promise<void>,
): Promise<UploadForm> {
  let file: UploadForm["file"];
  let audience: string[] | undefined;
  try {
    for await (const part of request.parts()) {
      if (part.type === "file") {
        if (part.fieldname !== "file")
          throw new Problem("invalid_parameter", "The file must be in the part named file.");
        const fileName = baseName(part.filename);
        documents.checkType(fileName, part.mimetype);
        file = { fileName, mediaType: part.mimetype, body: await documents.receive(part.file) };
      } else if (part.fieldname === "workspace_id") {
        await checkWorkspace(String(part.value));
      } else if (part.fieldname === "audience") {
        audience = [...(audience ?? []), ...String(part.value).split(",")];
      } else {
        const problem = unknownName({ [part.fieldname]: part.value }, formFields, "field");
        if (problem !== undefined) throw problem;
      }
    }
  } catch (error) {
    if (file !== undefined) await documents.discard(file.body);
    linger(request);
    // Errors of the form parser for a broken form have no code.
    if (error instanceof Error && !(error instanceof Problem) && !("code" in error)) {
      throw new Problem("invalid_parameter", "The multipart body is broken or incomplete.", { cause: error });
    }
    throw error;
  }
  return { file, ...(audience === undefined ? {} : { audience }) };
}

/** Some browsers send a path. The name is shown to people, so control characters are removed. */
function baseName(name: string): string {
  const base = name.split(/[/\\]/).at(-1) ?? "";
  // oxlint-disable-next-line no-control-regex -- these are removed
  const clean = base.replaceAll(/[\u0000-\u001f\u007f]/g, "").trim();
  return clean.length <= 180 ? clean : `${clean.slice(0, 100)}…${clean.slice(-60)}`;
}
