import { channelsWith } from "#channels/catalog.ts";
import type { FileWorkspace } from "#config/workspace.ts";
import type { Tx } from "#database/contract.ts";
import { setPausedChannels } from "#admin/channels/pausing.ts";
import { readStored, requireOwn } from "#admin/settings/change.ts";
import { requireSecondFactor } from "#admin/sign-in/settings.ts";
import { putTeam } from "#admin/team/declared-teams.ts";
import type { TeamEdit } from "#admin/team/teams.ts";
import { deleteTeam, listTeams, requireOwn as requireOwnTeam } from "#admin/team/teams.ts";

/** Applies the dashboard's teams, the required second factor, and which channels are paused. */
export async function applyPeople(
  tx: Tx,
  edit: TeamEdit,
  { name: workspaceName, teams: given = [], secondFactorRequired, pausedChannels }: FileWorkspace,
  prune: boolean,
): Promise<void> {
  const { workspaceId } = edit;
  const workspace = await readStored(tx, workspaceId);
  const teams = await listTeams(tx, workspaceId);
  for (const team of given) {
    const known = teams.find(({ name }) => name === team.name);
    if (known !== undefined) requireOwnTeam(known, `${workspaceName}: teams: `);
    await putTeam(tx, edit, "dashboard", team, known);
  }
  const isNamed = (name: string): boolean => given.some((team) => team.name === name);
  for (const team of prune ? teams : []) {
    if (team.managedBy !== "file" && !isNamed(team.name)) await deleteTeam(tx, team, edit);
  }
  const isFileSignIn = workspace.declared.has("secondFactorRequired");
  if (secondFactorRequired !== undefined) {
    requireOwn(workspace, "secondFactorRequired", `${workspaceName}: second_factor_required`);
  }
  if (secondFactorRequired !== undefined || (prune && !isFileSignIn)) {
    await requireSecondFactor(tx, edit, secondFactorRequired ?? false);
  }
  if (pausedChannels === undefined && !prune) return;
  const hasChats = !workspace.declared.has("pausedChannels");
  if (pausedChannels?.some((name) => isChatName(name)) === true) {
    requireOwn(workspace, "pausedChannels", `${workspaceName}: paused_channels`);
  }
  await setPausedChannels(tx, { workspaceId, owner: "dashboard", hasChats }, pausedChannels ?? [], edit);
}

const isChatName = (name: string): boolean => channelsWith("chat").some((channel) => channel === name);
