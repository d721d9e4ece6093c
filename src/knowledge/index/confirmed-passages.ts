import type { Reader } from "#database/contract.ts";
import { canAccess } from "./access.ts";
import type { Candidate, SearchRequest } from "./contract.ts";
import { stemsOf, withWords } from "./passage-words.ts";

export interface Hit {
  readonly id: string;
  /** The terms of title and text, where they are known already. */
  readonly terms?: Pick<Candidate, "titleTerms" | "bodyTerms">;
}

/** Those of the hits that the asker may be shown now, as they stand in the database. */
export async function confirmed(
  read: Reader,
  hits: readonly Hit[],
  { workspaceId, audience, documentIds }: SearchRequest,
): Promise<Candidate[]> {
  if (hits.length === 0) return [];
  const rows = await read
    .selectFrom("chunks")
    .innerJoin("documents", "documents.id", "chunks.document_id")
    .select([
      "chunks.id",
      "chunks.document_id",
      "chunks.position",
      "chunks.title",
      "chunks.text",
      "chunks.url",
      "documents.audience",
    ])
    .where(
      "chunks.id",
      "in",
      hits.map(({ id }) => id),
    )
    .where("documents.workspace_id", "=", workspaceId)
    .whereRef("chunks.version", "=", "documents.indexed_version")
    .execute();
  const found = new Map(rows.map((row) => [row.id, row]));
  const shown: Candidate[] = [];
  for (const hit of hits) {
    const row = found.get(hit.id);
    if (row === undefined || !canAccess(row.audience, audience)) continue;
    if (documentIds !== undefined && !documentIds.includes(row.document_id)) continue;
    shown.push({
      chunkId: row.id,
      documentId: row.document_id,
      position: row.position,
      title: row.title,
      text: row.text,
      url: row.url,
      ...(hit.terms ?? termsOf(row)),
    });
  }
  return shown;
}

function termsOf(row: { readonly title: string; readonly text: string }): Pick<Candidate, "titleTerms" | "bodyTerms"> {
  const [words] = withWords([row]);
  return { titleTerms: stemsOf(words?.titleWords ?? []), bodyTerms: stemsOf(words?.bodyWords ?? []) };
}
