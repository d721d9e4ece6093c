import type { Reader } from "#database/contract.ts";

/** Whether Typesense holds conversations of the workspace, or did before it was configured off. */
export async function wereInTypesense(db: Reader, workspaceId: string): Promise<boolean> {
  const row = await db
    .selectFrom("search_collections")
    .select("workspace_id")
    .where("workspace_id", "=", workspaceId)
    .executeTakeFirst();
  return row !== undefined;
}
