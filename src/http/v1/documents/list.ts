import type { Reader } from "#database/contract.ts";
import { contains } from "#database/dialects/contains.ts";
import { createCursors, listPosition } from "#http/v1/cursor.ts";
import type { DocumentRow } from "#http/v1/representation.ts";
import type { Resources } from "#http/v1/resources.ts";

/** The list that a cursor belongs to. */
export interface DocumentList {
  readonly workspaceId: string;
  readonly status?: DocumentRow["status"] | undefined;
  readonly kind?: "website" | "file" | "article" | undefined;
  /** An audience tag. */
  readonly tag?: string | undefined;
  /** A part of the title, the address or the file's name. */
  readonly text?: string | undefined;
}

export interface DocumentPage {
  readonly rows: readonly DocumentRow[];
  readonly pagination: { readonly next_cursor: string; readonly has_more: boolean };
}

interface PageRequest {
  readonly limit: number;
  readonly cursor: string | undefined;
}

/** Reads pages of lists of documents, newest first. Lists of different names do not take each other's cursors. */
export function createDocumentPages(
  { store, cursorKey }: Pick<Resources, "store" | "cursorKey">,
  name: string,
): (list: DocumentList, page: PageRequest) => Promise<DocumentPage> {
  const cursors = createCursors(cursorKey, name, listPosition);
  return async (list, { limit, cursor }) => {
    const position = cursor === undefined ? undefined : cursors.read(list, cursor);
    if (position !== undefined && "end" in position) {
      return { rows: [], pagination: { next_cursor: cursors.issue(list, position), has_more: false } };
    }
    const rows = await listRows(store.read, list, position, limit + 1);
    const page = rows.slice(0, limit);
    const last = page.at(-1);
    const next = last === undefined ? (position ?? { end: true as const }) : { at: last.created_at, id: last.id };
    return { rows: page, pagination: { next_cursor: cursors.issue(list, next), has_more: rows.length > limit } };
  };
}

/** Files and websites, without the pages of websites. */
async function listRows(
  db: Reader,
  { workspaceId, status, kind, tag, text }: DocumentList,
  after: { readonly at: number; readonly id: string } | undefined,
  limit: number,
): Promise<DocumentRow[]> {
  let query = db
    .selectFrom("documents")
    .selectAll()
    .where("workspace_id", "=", workspaceId)
    .where("parent_id", "is", null);
  if (status !== undefined) query = query.where("status", "=", status);
  if (kind === "website") query = query.where("source", "=", "crawl");
  if (kind === "file") query = query.where("source", "=", "upload").where("article", "is", null);
  if (kind === "article") query = query.where("article", "=", 1);
  if (tag !== undefined) query = query.where(contains("audience", JSON.stringify(tag)));
  if (text !== undefined) {
    query = query.where((eb) => eb.or((["title", "url", "file_name"] as const).map((name) => contains(name, text))));
  }
  if (after !== undefined) {
    const { at, id } = after;
    query = query.where((eb) =>
      eb.and([eb("created_at", "<=", at), eb.or([eb("created_at", "<", at), eb("id", "<", id)])]),
    );
  }
  return query.orderBy("created_at", "desc").orderBy("id", "desc").limit(limit).execute();
}
