import type { Clock } from "#runtime/clock.ts";
import type { Store } from "#database/contract.ts";
import { recordChange } from "#admin/audit.ts";
import type { AgentOf } from "#admin/team/agents.ts";
import { requireAgent } from "#admin/team/agents.ts";
import { endSessions } from "#admin/team/sessions.ts";

/** Forgets who the agent is at the provider, and ends their sessions. Their address decides at the next sign-in. */
export async function unlinkAgent(store: Store, clock: Clock, { workspaceId, agentId, by }: AgentOf): Promise<void> {
  await store.write(async (tx) => {
    const { id, email } = await requireAgent(tx, workspaceId, agentId);
    const now = clock.now();
    const { numDeletedRows } = await tx.deleteFrom("agent_identities").where("agent_id", "=", id).executeTakeFirst();
    if (numDeletedRows === 0n) return;
    await endSessions(tx, { workspaceId, agent: { id, email }, by, now });
    await recordChange(tx, { workspaceId, by, action: "sign_in_removed", subject: `provider of ${email}`, now });
  });
}
