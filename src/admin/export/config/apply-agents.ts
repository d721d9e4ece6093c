import type { FileAgent } from "#config/sections/people.ts";
import type { Tx } from "#database/contract.ts";
import { changeAgentIn } from "#admin/team/agents.ts";
import type { InvitationMail } from "#admin/team/invitations.ts";
import { inviteAgentIn } from "#admin/team/invitations.ts";
import type { TeamEdit } from "#admin/team/teams.ts";

/** Gives the agents of a workspace their names and roles, and invites those who are new. Returns the latter's addresses. */
export async function applyAgents(
  tx: Tx,
  { workspaceId, by, now }: TeamEdit,
  given: readonly FileAgent[],
  mail: InvitationMail | null,
): Promise<readonly string[]> {
  const rows = await tx.selectFrom("agents").select(["id", "email"]).where("workspace_id", "=", workspaceId).execute();
  const known = new Map(rows.map(({ id, email }) => [email, id]));
  const invited: string[] = [];
  // A colleague who becomes the only administrator has the role before the other one loses it.
  for (const { email, name, role } of given.toSorted(adminsFirst)) {
    const agentId = known.get(email);
    if (agentId !== undefined) {
      await changeAgentIn(tx, { workspaceId, agentId, by }, { name, ...(role === undefined ? {} : { role }) }, now);
      continue;
    }
    await inviteAgentIn(tx, { workspaceId, email, name, role: role ?? "agent", teamIds: [], by }, mail, now);
    invited.push(email);
  }
  return invited;
}

const adminsFirst = (left: FileAgent, right: FileAgent): number =>
  Number(right.role === "admin") - Number(left.role === "admin");
