import type { Tx } from "#database/contract.ts";
import { queueRemoval } from "#conversations/attachments/remove-files.ts";

/** Takes the picture from the agent, and queues the removal of its bytes. False: there is none. */
export async function dropAvatar(tx: Tx, workspaceId: string, agentId: string, now: number): Promise<boolean> {
  const agent = await tx.selectFrom("agents").select("avatar").where("id", "=", agentId).executeTakeFirst();
  const id = agent?.avatar ?? null;
  if (id === null) return false;
  await tx.updateTable("agents").set({ avatar: null, avatar_type: null }).where("id", "=", agentId).execute();
  await queueRemoval(tx, [{ id, workspace_id: workspaceId }], now);
  return true;
}
