import type { FileWorkspace } from "#config/workspace.ts";
import type { Store, Tx } from "#database/contract.ts";
import { lockWorkspace } from "#database/queries/workspaces.ts";
import type { Clock } from "#runtime/clock.ts";
import { fileActor } from "#admin/audit.ts";
import { requireSecondFactor } from "#admin/sign-in/settings.ts";
import { putTeam } from "./declared-teams.ts";
import type { TeamEdit } from "./teams.ts";
import { listTeams } from "./teams.ts";

/**
 * Makes the teams and the sign-in of the file's workspaces as it declares. Teams that the file no longer declares stay,
 * and can be changed in the dashboard.
 */
export async function provisionTeams(
  { store, clock }: { readonly store: Store; readonly clock: Clock },
  workspaces: readonly FileWorkspace[],
): Promise<void> {
  const rows = await store.read
    .selectFrom("workspaces")
    .select(["id", "name"])
    .where("deleted_at", "is", null)
    .where((eb) =>
      eb.or([
        eb("name", "in", ["", ...workspaces.map(({ name }) => name)]),
        eb("id", "in", eb.selectFrom("teams").select("workspace_id").where("managed_by", "=", "file")),
      ]),
    )
    .orderBy("created_at")
    .execute();
  for (const { id, name } of rows) {
    // The file's workspace is the oldest with its name.
    const isFirst = rows.find((row) => row.name === name)?.id === id;
    const given = isFirst ? workspaces.find((each) => each.name === name) : undefined;
    await store.write(async (tx) => {
      await lockWorkspace(tx, id);
      await provisionOne(tx, { workspaceId: id, by: fileActor, now: clock.now() }, given);
    });
  }
}

async function provisionOne(tx: Tx, edit: TeamEdit, given: FileWorkspace | undefined): Promise<void> {
  const { teams: declared = [], secondFactorRequired } = given ?? {};
  const teams = await listTeams(tx, edit.workspaceId);
  for (const team of declared) {
    const known = teams.find(({ name }) => name === team.name);
    await putTeam(tx, edit, "file", team, known);
  }
  for (const team of teams) {
    if (team.managedBy !== "file" || declared.some(({ name }) => name === team.name)) continue;
    await putTeam(tx, edit, "dashboard", { name: team.name }, team);
  }
  if (secondFactorRequired !== undefined) await requireSecondFactor(tx, edit, secondFactorRequired);
}
