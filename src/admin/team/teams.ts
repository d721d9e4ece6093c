import { newId } from "#domain/ids.ts";
import type { Actor } from "#domain/conversation/message.ts";
import { Problem } from "#domain/problem.ts";
import type { Clock } from "#runtime/clock.ts";
import type { Reader, Store, Tx } from "#database/contract.ts";
import { isDuplicate } from "#database/duplicate-key.ts";
import { requireRoom } from "#admin/workspaces/caps.ts";
import { recordChange } from "#admin/audit.ts";

export interface Team {
  readonly id: string;
  readonly name: string;
  readonly createdAt: number;
  readonly agentIds: readonly string[];
  readonly managedBy: "file" | "dashboard";
  /** Addresses that join the team once an agent has them. */
  readonly expectedAgents: readonly string[];
}

/** The workspace's teams, by name. */
export async function listTeams(db: Reader | Tx, workspaceId: string): Promise<readonly Team[]> {
  const teams = await db
    .selectFrom("teams")
    .select(["id", "name", "created_at", "managed_by", "expected_agents"])
    .where("workspace_id", "=", workspaceId)
    .orderBy("name")
    .execute();
  const members = await db
    .selectFrom("team_members")
    .innerJoin("teams", "teams.id", "team_members.team_id")
    .select(["team_members.team_id", "team_members.agent_id"])
    .where("teams.workspace_id", "=", workspaceId)
    .orderBy("team_members.agent_id")
    .execute();
  const byTeam = Map.groupBy(members, ({ team_id }) => team_id);
  return teams.map(({ id, name, created_at, managed_by, expected_agents }) => ({
    id,
    name,
    createdAt: created_at,
    managedBy: managed_by,
    expectedAgents: JSON.parse(expected_agents ?? "[]") as readonly string[],
    agentIds: (byTeam.get(id) ?? []).map(({ agent_id }) => agent_id),
  }));
}

export interface TeamChange {
  readonly workspaceId: string;
  readonly by: Actor;
  readonly name?: string | undefined;
  /** Replaces the members. */
  readonly agentIds?: readonly string[] | undefined;
}

export async function createTeam(store: Store, clock: Clock, given: TeamChange & { readonly name: string }) {
  return store.write(async (tx) => {
    const { workspaceId, by } = given;
    const now = clock.now();
    await requireRoom(tx, workspaceId, "teams");
    const id = newId("team", now);
    const name = given.name.trim();
    await withUniqueName(name, () =>
      tx.insertInto("teams").values({ id, workspace_id: workspaceId, name, created_at: now }).execute(),
    );
    if (given.agentIds !== undefined) await setMembers(tx, workspaceId, id, given.agentIds);
    await recordChange(tx, { workspaceId, by, action: "team_added", subject: name, now });
    return requireTeam(tx, workspaceId, id);
  });
}

export async function changeTeam(store: Store, clock: Clock, id: string, change: TeamChange): Promise<Team> {
  return store.write(async (tx) => {
    const { workspaceId, by, agentIds } = change;
    const team = await requireOwnTeam(tx, workspaceId, id);
    const name = change.name?.trim() ?? team.name;
    if (name !== team.name) {
      await withUniqueName(name, () => tx.updateTable("teams").set({ name }).where("id", "=", id).execute());
    }
    const members = new Set(agentIds ?? team.agentIds);
    const isSame =
      members.size === team.agentIds.length &&
      team.agentIds.every((each) => members.has(each)) &&
      (agentIds === undefined || team.expectedAgents.length === 0);
    if (isSame && name === team.name) return team;
    if (agentIds !== undefined) await setMembers(tx, workspaceId, id, agentIds);
    const from = `${team.name}, ${team.agentIds.length} agents`;
    const to = `${name}, ${members.size} agents`;
    await recordChange(tx, { workspaceId, by, action: "team_changed", subject: name, from, to, now: clock.now() });
    return requireTeam(tx, workspaceId, id);
  });
}

export async function removeTeam(
  store: Store,
  clock: Clock,
  id: string,
  { workspaceId, by }: Pick<TeamChange, "workspaceId" | "by">,
): Promise<void> {
  await store.write(async (tx) => {
    await deleteTeam(tx, await requireOwnTeam(tx, workspaceId, id), { workspaceId, by, now: clock.now() });
  });
}

/** The workspace, and the author and time of a change. */
export interface TeamEdit {
  readonly workspaceId: string;
  readonly by: Actor;
  readonly now: number;
}

export async function deleteTeam(tx: Tx, { id, name }: Team, { workspaceId, by, now }: TeamEdit): Promise<void> {
  await tx.deleteFrom("team_members").where("team_id", "=", id).execute();
  await tx.deleteFrom("teams").where("id", "=", id).execute();
  await recordChange(tx, { workspaceId, by, action: "team_removed", subject: name, now });
}

/**
 * Replaces the teams of one agent. Returns the names before and after, for people. Only the provider, whose groups decide
 * the members of the teams that they name, may change teams of the configuration file.
 */
export async function setTeamsOf(
  tx: Tx,
  workspaceId: string,
  agentId: string,
  teamIds: readonly string[],
  { byProvider = false } = {},
): Promise<{ readonly before: string; readonly after: string }> {
  const wanted = new Set(teamIds);
  const teams = await listTeams(tx, workspaceId);
  for (const team of byProvider ? [] : teams) {
    if (wanted.has(team.id) !== team.agentIds.includes(agentId)) requireOwn(team, "team_ids: ");
  }
  if ([...wanted].some((id) => !teams.some((team) => team.id === id))) {
    throw new Problem("invalid_parameter", "team_ids: one of them is no team of this workspace.");
  }
  const names = (isIn: (team: Team) => boolean) =>
    `teams: ${
      teams
        .filter(isIn)
        .map(({ name }) => name)
        .join(", ") || "none"
    }`;
  await tx.deleteFrom("team_members").where("agent_id", "=", agentId).execute();
  if (wanted.size > 0) {
    const rows = [...wanted].map((id) => ({ team_id: id, agent_id: agentId }));
    await tx.insertInto("team_members").values(rows).execute();
  }
  return { before: names((team) => team.agentIds.includes(agentId)), after: names(({ id }) => wanted.has(id)) };
}

async function requireTeam(tx: Tx, workspaceId: string, id: string): Promise<Team> {
  const team = (await listTeams(tx, workspaceId)).find((each) => each.id === id);
  if (team === undefined) throw new Problem("not_found", "There is no such team in this workspace.");
  return team;
}

async function requireOwnTeam(tx: Tx, workspaceId: string, id: string): Promise<Team> {
  const team = await requireTeam(tx, workspaceId, id);
  requireOwn(team);
  return team;
}

/** Throws Problem managed_by_file. */
export function requireOwn({ name, managedBy }: Team, prefix = ""): void {
  if (managedBy !== "file") return;
  const detail = `${prefix}${name}: managed by the configuration file. Change the file and restart.`;
  throw new Problem("managed_by_file", detail);
}

/** Replaces the members, expected ones included. */
async function setMembers(tx: Tx, workspaceId: string, teamId: string, agentIds: readonly string[]): Promise<void> {
  const wanted = [...new Set(agentIds)];
  const known =
    wanted.length === 0
      ? []
      : await tx
          .selectFrom("agents")
          .select("id")
          .where("workspace_id", "=", workspaceId)
          .where("id", "in", wanted)
          .execute();
  if (known.length < wanted.length) {
    throw new Problem("invalid_parameter", "agent_ids: one of them is no agent of this workspace.");
  }
  await storeMembers(
    tx,
    teamId,
    known.map(({ id }) => id),
    [],
  );
}

export async function storeMembers(
  tx: Tx,
  teamId: string,
  agentIds: readonly string[],
  expected: readonly string[],
): Promise<void> {
  await tx.deleteFrom("team_members").where("team_id", "=", teamId).execute();
  if (agentIds.length > 0) {
    const rows = agentIds.map((id) => ({ team_id: teamId, agent_id: id }));
    await tx.insertInto("team_members").values(rows).execute();
  }
  await storeExpected(tx, teamId, expected);
}

const storeExpected = (tx: Tx, teamId: string, expected: readonly string[]) =>
  tx
    .updateTable("teams")
    .set({ expected_agents: expected.length === 0 ? null : JSON.stringify(expected) })
    .where("id", "=", teamId)
    .execute();

/** Adds a new agent to the teams that expect their address. */
export async function joinExpectedTeams(
  tx: Tx,
  workspaceId: string,
  { id: agentId, email }: { readonly id: string; readonly email: string },
): Promise<void> {
  for (const { id, expectedAgents } of await listTeams(tx, workspaceId)) {
    if (!expectedAgents.includes(email)) continue;
    await tx.insertInto("team_members").values({ team_id: id, agent_id: agentId }).execute();
    await storeExpected(
      tx,
      id,
      expectedAgents.filter((each) => each !== email),
    );
  }
}

async function withUniqueName(name: string, write: () => Promise<unknown>): Promise<void> {
  try {
    await write();
  } catch (error) {
    if (!isDuplicate(error)) throw error;
    throw new Problem("already_exists", `There is a team ${name} already.`, { cause: error });
  }
}
