import type { Tx } from "#database/contract.ts";
import { lockWorkspace } from "#database/queries/workspaces.ts";
import { Problem } from "#domain/problem.ts";

/** Maximum of things of a workspace; docs/api.md names them. */
const caps = {
  "API keys": 200,
  "OAuth clients": 100,
  webhooks: 100,
  teams: 200,
} as const;

const accessTokensMax = 50;

type Capped = keyof typeof caps;

/**
 * Throws Problem invalid_parameter if the workspace can have no more of these. Call it first in the transaction that
 * inserts one: the lock keeps concurrent inserts from exceeding the maximum together.
 */
export async function requireRoom(tx: Tx, workspaceId: string, of: Capped): Promise<void> {
  await lockWorkspace(tx, workspaceId);
  if ((await countOf(tx, workspaceId, of)) < caps[of]) return;
  throw new Problem("invalid_parameter", `A workspace has at most ${caps[of]} ${of}. Remove one first.`);
}

async function countOf(tx: Tx, workspaceId: string, of: Capped): Promise<number> {
  if (of === "teams" || of === "webhooks") {
    const rows = tx.selectFrom(of).select((eb) => eb.fn.countAll<number>().as("count"));
    return (await rows.where("workspace_id", "=", workspaceId).executeTakeFirstOrThrow()).count;
  }
  const { count } = await tx
    .selectFrom("api_keys")
    .select((eb) => eb.fn.countAll<number>().as("count"))
    .where("workspace_id", "=", workspaceId)
    .where("revoked_at", "is", null)
    .where("client_secret", of === "API keys" ? "is" : "is not", null)
    .executeTakeFirstOrThrow();
  return count;
}

/** The same for the access tokens of an agent. Expired ones do not count. */
export async function requireRoomForToken(tx: Tx, workspaceId: string, agentId: string, now: number): Promise<void> {
  await lockWorkspace(tx, workspaceId);
  const { count } = await tx
    .selectFrom("access_tokens")
    .select((eb) => eb.fn.countAll<number>().as("count"))
    .where("agent_id", "=", agentId)
    .where((eb) => eb.or([eb("expires_at", "is", null), eb("expires_at", ">", now)]))
    .executeTakeFirstOrThrow();
  if (count < accessTokensMax) return;
  throw new Problem("invalid_parameter", `An agent has at most ${accessTokensMax} access tokens. Revoke one first.`);
}
