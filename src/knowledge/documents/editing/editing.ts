import { Buffer } from "node:buffer";
import { Problem } from "#domain/problem.ts";
import type { Store } from "#database/contract.ts";
import type { Clock } from "#runtime/clock.ts";
import type { Wake } from "#runtime/signals.ts";
import type { Blobs, StoredBlob } from "#knowledge/documents/blobs.ts";
import { ingestLane } from "#knowledge/documents/indexer.ts";
import type { Document, RecordChange } from "#knowledge/documents/rows.ts";
import { findRow, toDocument } from "#knowledge/documents/rows.ts";
import type { SavedUpload } from "#knowledge/documents/upload.ts";
import type { Article, ArticleEdit, Content } from "./articles.ts";
import { checkArticle, insertArticle, readContent, requireEditable, saveArticle } from "./articles.ts";
import type { DetailsChange } from "./details.ts";
import { changeDetails } from "./details.ts";

/** Changes of documents by people. */
export interface DocumentEdits {
  /** Changes title and audience. Undefined when there is no such document. Throws `Problem` invalid_parameter. */
  change(
    workspaceId: string,
    documentId: string,
    change: DetailsChange,
    record?: RecordChange,
  ): Promise<Document | undefined>;
  /** The text of an article or a text file. Undefined when there is no such document. Throws `Problem` not_editable. */
  content(workspaceId: string, documentId: string): Promise<Content | undefined>;
  addArticle(workspaceId: string, article: Article, record?: RecordChange): Promise<Document>;
  /**
   * Saves a new version of an article or a text file; the old one answers until it is indexed. Undefined when there is no
   * such document. Throws `Problem` not_editable and edit_conflict.
   */
  saveArticle(
    workspaceId: string,
    documentId: string,
    edit: ArticleEdit,
    record?: RecordChange,
  ): Promise<Document | undefined>;
}

interface EditsOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly wake: Wake | undefined;
  readonly blobs: Blobs;
}

export function createDocumentEdits({ store, clock, wake, blobs }: EditsOptions): DocumentEdits {
  /** Stores the text, and removes it again where nothing refers to it. */
  async function withText(
    text: string,
    write: (blob: StoredBlob) => Promise<Omit<SavedUpload, "isNew"> | undefined>,
  ): Promise<Document | undefined> {
    const blob = await blobs.store(once(Buffer.from(text)));
    let saved: Omit<SavedUpload, "isNew"> | undefined;
    try {
      saved = await write(blob);
    } catch (error) {
      // After another failure the change may be stored all the same; otherwise the bytes are removed as orphans.
      if (error instanceof Problem) await blobs.remove(blob.id);
      throw error;
    }
    if (saved?.queued === true) wake?.notify([ingestLane(saved.row.id)], clock.now());
    else await blobs.remove(blob.id);
    return saved === undefined ? undefined : toDocument(saved.row);
  }

  return {
    async change(workspaceId, documentId, change, record) {
      const now = clock.now();
      const done = await store.write(async (tx) => {
        const changed = await changeDetails(tx, workspaceId, documentId, change, now);
        if (changed?.isChanged === true) {
          await record?.(tx, { verb: "changed", title: changed.before.title, to: describe(change) });
        }
        return changed;
      });
      if (done === undefined) return undefined;
      if (done.queued) wake?.notify([ingestLane(documentId)], now);
      const row = await findRow(store.read, workspaceId, documentId);
      return row === undefined ? undefined : toDocument(row);
    },

    async content(workspaceId, documentId) {
      const row = await findRow(store.read, workspaceId, documentId);
      if (row === undefined) return undefined;
      requireEditable(row);
      const bytes = row.body_id === null ? undefined : await blobs.read(row.body_id);
      return bytes === undefined ? undefined : readContent(bytes, row.content_hash ?? "");
    },

    async addArticle(workspaceId, article, record) {
      checkArticle(article);
      const now = clock.now();
      const added = await withText(article.content, (blob) =>
        store.write(async (tx) => {
          const row = await insertArticle(tx, workspaceId, article, blob, now);
          await record?.(tx, { verb: "added", title: row.title });
          return { row, queued: true };
        }),
      );
      if (added === undefined) throw new Error("an added article has no row");
      return added;
    },

    saveArticle(workspaceId, documentId, edit, record) {
      checkArticle(edit);
      const now = clock.now();
      return withText(edit.content, (blob) =>
        store.write(async (tx) => {
          const saved = await saveArticle(tx, workspaceId, documentId, edit, blob, now);
          if (saved !== undefined) await record?.(tx, { verb: "changed", title: saved.row.title });
          return saved;
        }),
      );
    },
  };
}

/** For the audit log. */
function describe({ title, audience }: DetailsChange): string {
  const tags = audience?.join(", ");
  return [
    ...(title === undefined ? [] : [`title: ${title}`]),
    ...(tags === undefined ? [] : [`audience: ${tags === "" ? "everyone" : tags}`]),
  ].join("; ");
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
