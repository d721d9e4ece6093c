import { newId } from "#domain/ids.ts";
import { Problem } from "#domain/problem.ts";
import { audienceTags } from "#domain/workspace/audience.ts";
import type { Tx } from "#database/contract.ts";
import type { DocumentsTable } from "#database/schema/knowledge.ts";
import { decodeText } from "#knowledge/parse/decode-text.ts";
import { UnreadableDocument, documentBytesMax } from "#knowledge/documents/blocks.ts";
import type { StoredBlob } from "#knowledge/documents/blobs.ts";
import { checkTitle } from "./details.ts";
import { lockDocument, sha256 } from "#knowledge/documents/rows.ts";
import type { SavedUpload } from "#knowledge/documents/upload.ts";
import { insertUpload, replaceUpload } from "#knowledge/documents/upload.ts";

/** A text written in the dashboard. */
export interface Article {
  readonly title: string;
  /** Markdown. */
  readonly content: string;
  readonly audience: readonly string[];
}

/** A new version of an article, or of an uploaded text file. */
export interface ArticleEdit extends Omit<Article, "audience"> {
  /** Absent: unchanged. */
  readonly audience?: readonly string[];
  /** The version of the content that was edited. */
  readonly basedOn: string;
}

export interface Content {
  readonly text: string;
  /** Names this content, for {@link ArticleEdit}. */
  readonly version: string;
}

const articleCharactersMax = 200_000;

const editableTypes: ReadonlySet<string> = new Set(["text/markdown", "text/plain"]);

/** Throws `Problem` not_editable for documents without a text that people can edit. */
export function requireEditable(row: DocumentsTable): void {
  if (row.source === "upload" && editableTypes.has(row.media_type)) return;
  throw new Problem("not_editable", "Only articles, Markdown files and plain text files can be edited here.");
}

/** Throws `Problem` not_editable for a longer text, and for bytes that are no text. */
export function readContent(bytes: Uint8Array, version: string): Content {
  if (bytes.byteLength <= documentBytesMax) {
    const text = textIn(bytes, "not_editable");
    if (text.length <= articleCharactersMax) return { text, version };
  }
  throw new Problem(
    "not_editable",
    "This text is too long to edit here. Change the file, and upload it again under the same name.",
  );
}

/** Throws `Problem` invalid_parameter. */
export function checkArticle({ title, content }: Pick<Article, "title" | "content">): void {
  checkTitle(title);
  if (content.trim() === "" || content.length > articleCharactersMax) {
    throw new Problem("invalid_parameter", "content must be a text of 1 to 200,000 characters.");
  }
  textIn(Buffer.from(content), "invalid_parameter");
}

/** Throws a `Problem` of this code where a document of these bytes would fail. */
function textIn(bytes: Uint8Array, code: "not_editable" | "invalid_parameter"): string {
  try {
    return decodeText(bytes);
  } catch (error) {
    if (!(error instanceof UnreadableDocument)) throw error;
    throw new Problem(code, "content has control characters, which no text has.", { cause: error });
  }
}

export async function insertArticle(
  tx: Tx,
  workspaceId: string,
  { title, audience }: Article,
  blob: StoredBlob,
  now: number,
): Promise<DocumentsTable> {
  const id = newId("doc", now);
  const row = await insertUpload(
    tx,
    {
      id,
      workspaceId,
      now,
      source: "upload",
      // No file name has this origin, so no upload replaces the article.
      origin_key: sha256(`article\n${id}`),
      content_hash: blob.hash,
      media_type: "text/markdown",
      url: null,
      audience: JSON.stringify(audienceTags(audience)),
      title: checkTitle(title),
      own_title: 1,
      article: 1,
      body_id: blob.id,
      parent_id: null,
    },
    blob,
  );
  if (row === undefined) throw new Error("an article has the id of another");
  return row;
}

/** Undefined when there is no such document. Throws `Problem` not_editable and edit_conflict. */
export async function saveArticle(
  tx: Tx,
  workspaceId: string,
  documentId: string,
  { title: given, audience, basedOn }: ArticleEdit,
  blob: StoredBlob,
  now: number,
): Promise<Omit<SavedUpload, "isNew"> | undefined> {
  const existing = await lockDocument(tx, workspaceId, documentId);
  if (existing === undefined) return undefined;
  requireEditable(existing);
  if (existing.content_hash !== basedOn) {
    throw new Problem("edit_conflict", "Someone has saved this text since you opened it. Load it again.");
  }
  const title = checkTitle(given);
  const change = { audience: audience === undefined ? existing.audience : JSON.stringify(audienceTags(audience)) };
  const named = title === existing.title ? change : { ...change, title, own_title: 1 };
  return replaceUpload(tx, existing, named, blob, now);
}
