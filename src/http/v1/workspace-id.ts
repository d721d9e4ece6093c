import { parseWorkspaceId } from "#domain/ids.ts";
import { Problem } from "#domain/problem.ts";
import type { Reader } from "#database/contract.ts";

/** Throws Problem unless `value` is the workspace of the key, or may be absent. */
export async function checkWorkspaceId(
  db: Reader,
  value: unknown,
  own: string,
  presence: "required" | "optional",
): Promise<void> {
  if (value === undefined || value === null) {
    if (presence === "optional") return;
    throw new Problem("missing_field", "workspace_id is required.");
  }
  const id = typeof value === "string" ? parseWorkspaceId(value) : undefined;
  if (id === undefined) {
    throw new Problem(
      "invalid_workspace_id",
      "workspace_id must be a string of the form wt_<6 characters>_<10 or more characters>, all of them a-z or 0-9.",
    );
  }
  if (id === own) return;
  const row = await db
    .selectFrom("workspaces")
    .select("id")
    .where("id", "=", id)
    .where("deleted_at", "is", null)
    .executeTakeFirst();
  if (row === undefined) throw new Problem("workspace_not_found", "There is no workspace with this id.");
  throw new Problem("workspace_access_denied", "This API key belongs to another workspace.");
}
