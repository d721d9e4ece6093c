import { Problem } from "#domain/problem.ts";
import type { Reader } from "#database/contract.ts";
import type { DocumentRow } from "#http/v1/representation.ts";

/** A file or a website of the workspace, not a page of a website. Throws Problem document_not_found. */
export async function findDocument(db: Reader, workspaceId: string, id: string): Promise<DocumentRow> {
  const row = await db
    .selectFrom("documents")
    .selectAll()
    .where("id", "=", id)
    .where("workspace_id", "=", workspaceId)
    .where("parent_id", "is", null)
    .executeTakeFirst();
  if (row === undefined) throw documentNotFound();
  return row;
}

export function documentNotFound(): Problem {
  return new Problem("document_not_found", "There is no document with this id.");
}
