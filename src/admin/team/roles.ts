import { Problem } from "#domain/problem.ts";
import type { Tx } from "#database/contract.ts";

/**
 * Throws Problem last_admin unless another admin has joined. Call it before an admin is removed or gets another role, in
 * a transaction that has locked the workspace: else two admins could demote each other at the same time.
 */
export async function requireOtherAdmin(tx: Tx, workspaceId: string, agentId: string): Promise<void> {
  const admins = await tx
    .selectFrom("agents")
    .select("id")
    .where("workspace_id", "=", workspaceId)
    .where("role", "=", "admin")
    .where("invited_until", "is", null)
    .execute();
  if (admins.some(({ id }) => id !== agentId)) return;
  throw new Problem("last_admin", "This is the only admin of the workspace. Make a colleague admin first.");
}
