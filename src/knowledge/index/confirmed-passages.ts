import type { Reader } from "#database/contract.ts";
import { canAccess } from "./access.ts";
import type { Candidate, SearchRequest } from "./contract.ts";
import { stemsOf, withWords } from "./passage-words.ts";

export interface PassageHit {
  readonly id: string;
  /** The terms of title and text, when the index has them. */
  readonly terms?: Pick<Candidate, "titleTerms" | "bodyTerms">;
}

/** Loads the hits from the database, without those that are gone or that the asker cannot access. */
export async function confirmed(
  read: Reader,
  hits: readonly PassageHit[],
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
  const byId = new Map(rows.map((row) => [row.id, row]));
  const candidates: Candidate[] = [];
  for (const hit of hits) {
    const row = byId.get(hit.id);
    if (row === undefined || !canAccess(row.audience, audience)) continue;
    if (documentIds !== undefined && !documentIds.includes(row.document_id)) continue;
    candidates.push({
      chunkId: row.id,
      documentId: row.document_id,
      position: row.position,
      title: row.title,
      text: row.text,
      url: row.url,
      ...(hit.terms ?? termsOf(row)),
    });
  }
  return candidates;
}

function termsOf(row: { readonly title: string; readonly text: string }): Pick<Candidate, "titleTerms" | "bodyTerms"> {
  const [words] = withWords([row]);
  return { titleTerms: stemsOf(words?.titleWords ?? []), bodyTerms: stemsOf(words?.bodyWords ?? []) };
}
