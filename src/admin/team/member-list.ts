import type { AgentRole } from "#domain/workspace/agent-role.ts";
import type { Reader } from "#database/contract.ts";

/** An agent, as admins see them. Times are epoch milliseconds. */
export interface Member {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly role: AgentRole;
  readonly teams: readonly { readonly id: string; readonly name: string }[];
  readonly away: boolean;
  readonly hasPassword: boolean;
  readonly hasSecondFactor: boolean;
  readonly hasAvatar: boolean;
  /** The agent has signed in through a provider. */
  readonly hasIdentity: boolean;
  readonly lastSeenAt: number | null;
  /** End of the invitation that is not accepted yet; null: the agent has joined. */
  readonly invitedUntil: number | null;
  readonly createdAt: number;
}

/** The workspace's agents in the order of their addresses, after `email`. */
export async function listMembers(
  db: Reader,
  workspaceId: string,
  { after, limit }: { readonly after: string | null; readonly limit: number },
): Promise<readonly Member[]> {
  const query = members(db, workspaceId).orderBy("email").limit(limit);
  return withTeams(db, await (after === null ? query : query.where("email", ">", after)).execute());
}

export async function readMember(db: Reader, workspaceId: string, id: string): Promise<Member | undefined> {
  const [member] = await withTeams(db, await members(db, workspaceId).where("id", "=", id).execute());
  return member;
}

const members = (db: Reader, workspaceId: string) =>
  db
    .selectFrom("agents")
    .select(["id", "email", "name", "role", "away", "password", "last_seen_at", "invited_until", "created_at"])
    .select((eb) => [
      "second_factor",
      "avatar",
      eb
        .selectFrom("agent_identities")
        .select("agent_identities.issuer")
        .whereRef("agent_identities.agent_id", "=", "agents.id")
        .as("identity"),
    ])
    .where("workspace_id", "=", workspaceId);

type Row = Awaited<ReturnType<ReturnType<typeof members>["execute"]>>[number];

async function withTeams(db: Reader, rows: readonly Row[]): Promise<readonly Member[]> {
  if (rows.length === 0) return [];
  const ids = rows.map(({ id }) => id);
  const teams = await db
    .selectFrom("team_members")
    .innerJoin("teams", "teams.id", "team_members.team_id")
    .select(["team_members.agent_id", "teams.id", "teams.name"])
    .where("team_members.agent_id", "in", ids)
    .orderBy("teams.name")
    .execute();
  const byAgent = Map.groupBy(teams, ({ agent_id }) => agent_id);
  return rows.map((row) => ({
    id: row.id,
    email: row.email,
    name: row.name,
    role: row.role,
    teams: (byAgent.get(row.id) ?? []).map(({ id, name }) => ({ id, name })),
    away: row.away === 1,
    hasPassword: row.password !== null,
    hasSecondFactor: row.second_factor !== null,
    hasAvatar: row.avatar !== null,
    hasIdentity: row.identity !== null,
    lastSeenAt: row.last_seen_at,
    invitedUntil: row.invited_until,
    createdAt: row.created_at,
  }));
}
