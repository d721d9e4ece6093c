import { Problem } from "#domain/problem.ts";
import { audienceTags } from "#domain/workspace/audience.ts";
import type { Tx } from "#database/contract.ts";
import type { DocumentsTable } from "#database/schema/knowledge.ts";
import { oneLine, titleCharactersMax } from "#knowledge/documents/blocks.ts";
import { enqueueIngest } from "#knowledge/documents/indexer.ts";
import { changeAudience, lockDocument, raiseKnowledgeVersion, replaceChunks } from "#knowledge/documents/rows.ts";

/** Absent fields stay as they are. */
export interface DetailsChange {
  readonly title?: string;
  /** Replaces all tags. */
  readonly audience?: readonly string[];
}

/** Throws `Problem` invalid_parameter. */
export function checkTitle(given: string): string {
  const title = oneLine(given);
  if (title !== "" && title.length <= titleCharactersMax) return title;
  throw new Problem("invalid_parameter", `title must be a text of 1 to ${titleCharactersMax} characters.`);
}

/**
 * Changes title and audience without reading the content again. Returns the row before the change, and whether indexing
 * was queued. Undefined when there is no such document.
 */
export async function changeDetails(
  tx: Tx,
  workspaceId: string,
  documentId: string,
  { title: given, audience: tags }: DetailsChange,
  now: number,
): Promise<{ readonly before: DocumentsTable; readonly isChanged: boolean; readonly queued: boolean } | undefined> {
  const title = given === undefined ? undefined : checkTitle(given);
  const audience = tags === undefined ? undefined : JSON.stringify(audienceTags(tags));
  const before = await lockDocument(tx, workspaceId, documentId);
  if (before === undefined) return undefined;
  const isRetagged = audience !== undefined && audience !== before.audience;
  const isRetitled = title !== undefined && title !== before.title;
  if (isRetagged) await changeAudience(tx, before, audience, now);
  const queued = isRetitled && (await changeTitle(tx, before, title, now));
  return { before, isChanged: isRetagged || isRetitled, queued };
}

/** True where the new title comes with the indexing that is under way. */
async function changeTitle(tx: Tx, row: DocumentsTable, title: string, now: number): Promise<boolean> {
  const isPending = row.source === "upload" && (row.status === "pending" || row.status === "processing");
  const update = { title, own_title: 1, ...(isPending ? { status: "pending" as const } : {}) };
  await tx.updateTable("documents").set(update).where("id", "=", row.id).execute();
  if (isPending) {
    // The indexing under way has the old title; its result is discarded.
    await enqueueIngest(tx, row.id, now);
    return true;
  }
  // Passages of a website have the titles of its pages.
  if (row.source === "upload" && row.indexed_version > 0) await retitleChunks(tx, row, title, now);
  return false;
}

/** A new version of the passages, so that every index replaces them. */
async function retitleChunks(tx: Tx, row: DocumentsTable, title: string, now: number): Promise<void> {
  const chunks = await tx
    .selectFrom("chunks")
    .select(["title", "text"])
    .where("document_id", "=", row.id)
    .where("version", "=", row.indexed_version)
    .orderBy("position")
    .execute();
  const renamed = chunks.map((chunk) => ({
    text: chunk.text,
    title: chunk.title.startsWith(row.title)
      ? `${title}${chunk.title.slice(row.title.length)}`.slice(0, titleCharactersMax)
      : chunk.title,
  }));
  const version = row.indexed_version + 1;
  await replaceChunks(tx, row, version, renamed, now);
  await tx.updateTable("documents").set({ indexed_version: version }).where("id", "=", row.id).execute();
  await raiseKnowledgeVersion(tx, row.workspace_id, now);
}
