import { newId } from "#domain/ids.ts";
import { Problem } from "#domain/problem.ts";
import { audienceTags } from "#domain/workspace/audience.ts";
import type { Tx } from "#database/contract.ts";
import type { DocumentsTable } from "#database/schema/knowledge.ts";
import { titleFromFileName } from "#knowledge/parse/parse.ts";
import type { StoredBlob } from "./blobs.ts";
import { adoptBlob, deleteBlob } from "./blobs.ts";
import type { ReadableType } from "./file-types.ts";
import { readableEndings, readableType } from "./file-types.ts";
import { enqueueIngest } from "./indexer.ts";
import type { NewDocumentRow } from "./rows.ts";
import { documentOfOrigin, insertDocument, raiseKnowledgeVersion, sha256 } from "./rows.ts";

export interface Upload {
  readonly workspaceId: string;
  readonly fileName: string;
  readonly mediaType?: string;
  /** Only customers with one of these tags get answers from it; empty: everyone does. */
  readonly audience?: readonly string[];
  /** Shown as the source of an answer. */
  readonly url?: string | null;
}

/** The file's type and settings in the form in which they are stored. */
export interface CheckedUpload {
  readonly workspaceId: string;
  readonly fileName: string;
  readonly type: ReadableType;
  readonly url: string | null;
  /** Undefined: unchanged, or public for a new document. */
  readonly audience: string | undefined;
}

export interface SavedUpload {
  readonly row: DocumentsTable;
  readonly isNew: boolean;
  /** False where the content did not change: nothing is indexed, and the uploaded bytes are not needed. */
  readonly queued: boolean;
}

export const originOf = (fileName: string): string => sha256(`upload\n${fileName}`);

/** Throws `Problem` unsupported_media_type for a file that cannot be read. */
export function uploadType(fileName: string, mediaType?: string): ReadableType {
  const type = readableType(fileName, mediaType);
  if (type !== undefined) return type;
  throw new Problem("unsupported_media_type", `Files of this type cannot be added; ${readableEndings} can.`);
}

/** Throws `Problem`. */
export function checkUpload({ workspaceId, fileName, mediaType, audience, url = null }: Upload): CheckedUpload {
  const type = uploadType(fileName, mediaType);
  const tags = audience === undefined ? undefined : JSON.stringify(audienceTags(audience));
  return { workspaceId, fileName, type, url, audience: tags };
}

/** Makes a document of an uploaded file, or replaces the document of the same file name. */
export async function saveUpload(
  tx: Tx,
  { workspaceId, fileName, type, url, audience }: CheckedUpload,
  blob: StoredBlob,
  now: number,
): Promise<SavedUpload> {
  const fresh = {
    source: "upload",
    origin_key: originOf(fileName),
    content_hash: blob.hash,
    media_type: type,
    url,
    audience: audience ?? "[]",
    title: titleFromFileName(fileName),
    body_id: blob.id,
    parent_id: null,
    file_name: fileName,
  } as const satisfies NewDocumentRow;
  const inserted = await insertUpload(tx, { id: newId("doc", now), workspaceId, now, ...fresh }, blob);
  if (inserted !== undefined) return { row: inserted, queued: true, isNew: true };
  const existing = await documentOfOrigin(tx, workspaceId, fresh.origin_key);
  const { media_type, file_name } = fresh;
  // An upload that names no audience must not open a gated document to everyone.
  const change = { media_type, url, file_name, audience: audience ?? existing.audience };
  return { ...(await replaceUpload(tx, existing, change, blob, now)), isNew: false };
}

/** Undefined when the workspace has a document of this origin. */
export async function insertUpload(
  tx: Tx,
  fresh: Parameters<typeof insertDocument>[1],
  blob: StoredBlob,
): Promise<DocumentsTable | undefined> {
  const inserted = await insertDocument(tx, fresh);
  if (inserted === undefined) return undefined;
  await attachBlob(tx, blob, inserted.id);
  await enqueueIngest(tx, inserted.id, fresh.now);
  return inserted;
}

/** The columns that a new version of a file brings. */
type UploadChange = Pick<DocumentsTable, "audience"> &
  Partial<Pick<DocumentsTable, "media_type" | "url" | "file_name" | "title" | "own_title">>;

/** Replaces the content of a document, whose old version answers until the new one is indexed. */
export async function replaceUpload(
  tx: Tx,
  existing: DocumentsTable,
  change: UploadChange,
  blob: StoredBlob,
  now: number,
): Promise<Omit<SavedUpload, "isNew">> {
  const { audience, title = existing.title, url = existing.url } = change;
  const isSame =
    existing.content_hash === blob.hash &&
    existing.url === url &&
    existing.title === title &&
    existing.status !== "failed";
  // Only the new columns are written: indexing may be changing the others at this moment.
  const update = isSame
    ? { audience, ...(change.file_name === undefined ? {} : { file_name: change.file_name }) }
    : { ...change, content_hash: blob.hash, body_id: blob.id, status: "pending" as const, error: null };
  await tx.updateTable("documents").set(update).where("id", "=", existing.id).execute();
  const row: DocumentsTable = { ...existing, ...update };
  // The audience applies at once, to the old version too.
  if (existing.audience !== audience) await raiseKnowledgeVersion(tx, existing.workspace_id, now);
  if (isSame) return { row, queued: false };
  if (existing.body_id !== null) await deleteBlob(tx, existing.body_id);
  await attachBlob(tx, blob, existing.id);
  await enqueueIngest(tx, existing.id, now);
  return { row, queued: true };
}

async function attachBlob(tx: Tx, blob: StoredBlob, documentId: string): Promise<void> {
  if (!(await adoptBlob(tx, blob.id, documentId)))
    throw new Error("the bytes of an upload were removed before its end");
}
