import { Problem } from "#domain/problem.ts";
import type { Reader } from "#database/contract.ts";
import type { Document, DocumentStatus } from "./rows.ts";
import { toDocument } from "./rows.ts";
import { originOf } from "./upload.ts";

export interface DocumentPage {
  readonly documents: readonly Document[];
  /** Cursor of the next page; after the last page it yields an empty one. */
  readonly nextCursor: string;
  readonly hasMore: boolean;
}

export interface DocumentFilter {
  readonly status?: DocumentStatus;
  /** 1 to 100, default 20. */
  readonly limit?: number;
  readonly cursor?: string;
}

/** Newest first. A website is one document; its pages are not listed. */
export async function listDocuments(db: Reader, workspaceId: string, filter: DocumentFilter): Promise<DocumentPage> {
  const limit = Math.min(100, Math.max(1, Math.trunc(filter.limit ?? 20)));
  const after = filter.cursor === undefined ? undefined : readCursor(filter.cursor, workspaceId, filter.status);
  let query = db
    .selectFrom("documents")
    .selectAll()
    .where("workspace_id", "=", workspaceId)
    .where("parent_id", "is", null);
  if (filter.status !== undefined) query = query.where("status", "=", filter.status);
  if (after !== undefined) {
    query = query.where((eb) =>
      eb.or([eb("created_at", "<", after.at), eb.and([eb("created_at", "=", after.at), eb("id", "<", after.id)])]),
    );
  }
  const rows = await query
    .orderBy("created_at", "desc")
    .orderBy("id", "desc")
    .limit(limit + 1)
    .execute();
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  const end = last === undefined ? (after ?? { at: 0, id: "" }) : { at: last.created_at, id: last.id };
  return {
    documents: shown.map(toDocument),
    nextCursor: writeCursor(end, workspaceId, filter.status),
    hasMore: rows.length > limit,
  };
}

export async function documentsOfFiles(
  db: Reader,
  workspaceId: string,
  fileNames: readonly string[],
): Promise<readonly Document[]> {
  const rows = await db
    .selectFrom("documents")
    .selectAll()
    .where("workspace_id", "=", workspaceId)
    .where("origin_key", "in", fileNames.map(originOf))
    .execute();
  return rows.map(toDocument);
}

interface ListPosition {
  readonly at: number;
  readonly id: string;
}

/** A cursor names the list that it was issued for, and is refused for any other. */
function writeCursor({ at, id }: ListPosition, workspaceId: string, status: DocumentStatus | undefined): string {
  return `cur_${Buffer.from(JSON.stringify(["documents", workspaceId, status ?? "", at, id])).toString("base64url")}`;
}

function readCursor(cursor: string, workspaceId: string, status: DocumentStatus | undefined): ListPosition {
  const invalid = new Problem("invalid_cursor", "The cursor was not issued for this list with these filters.");
  let data: unknown;
  try {
    data = JSON.parse(Buffer.from(cursor.replace(/^cur_/, ""), "base64url").toString("utf8"));
  } catch (cause) {
    throw new Problem("invalid_cursor", invalid.message, { cause });
  }
  if (!Array.isArray(data) || data.length !== 5) throw invalid;
  const [kind, workspace, filter, at, id] = data as unknown[];
  if (kind !== "documents" || workspace !== workspaceId || filter !== (status ?? "")) throw invalid;
  if (typeof at !== "number" || !Number.isSafeInteger(at) || typeof id !== "string") throw invalid;
  return { at, id };
}
