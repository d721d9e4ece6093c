import type { FileTeam } from "#config/sections/people.ts";
import type { Tx } from "#database/contract.ts";
import { newId } from "#domain/ids.ts";
import { requireRoom } from "#admin/workspaces/caps.ts";
import { recordChange } from "#admin/audit.ts";
import type { Team, TeamEdit } from "./teams.ts";
import { storeMembers } from "./teams.ts";

/** Makes a team as a file says. `known`: the team of this name. */
export async function putTeam(
  tx: Tx,
  edit: TeamEdit,
  managedBy: Team["managedBy"],
  { name, agents }: FileTeam,
  known: Team | undefined,
): Promise<void> {
  const { workspaceId, by, now } = edit;
  const id = known?.id ?? newId("team", now);
  if (known === undefined) {
    await requireRoom(tx, workspaceId, "teams");
    const row = { id, workspace_id: workspaceId, name, created_at: now, managed_by: managedBy };
    await tx.insertInto("teams").values(row).execute();
    await recordChange(tx, { workspaceId, by, action: "team_added", subject: name, now });
  } else if (known.managedBy !== managedBy) {
    await tx.updateTable("teams").set({ managed_by: managedBy }).where("id", "=", id).execute();
    await recordChange(tx, { ...edit, action: "team_changed", subject: name, from: known.managedBy, to: managedBy });
  }
  if (agents === undefined) return;
  const members =
    agents.length === 0
      ? []
      : await tx
          .selectFrom("agents")
          .select(["id", "email"])
          .where("workspace_id", "=", workspaceId)
          .where("email", "in", agents)
          .orderBy("id")
          .execute();
  const ids = members.map((agent) => agent.id);
  const expected = agents.filter((address) => !members.some(({ email }) => email === address));
  const { agentIds = [], expectedAgents = [] } = known ?? {};
  if (ids.join() === agentIds.join() && expected.join() === expectedAgents.join()) return;
  await storeMembers(tx, id, ids, expected);
  if (known === undefined) return;
  const count = (of: readonly string[], others: readonly string[]) => `${name}, ${of.length + others.length} agents`;
  const [from, to] = [count(agentIds, expectedAgents), count(ids, expected)];
  await recordChange(tx, { workspaceId, by, action: "team_changed", subject: name, from, to, now });
}
