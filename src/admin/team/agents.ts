import { newId } from "#domain/ids.ts";
import type { Actor } from "#domain/conversation/message.ts";
import { Problem } from "#domain/problem.ts";
import type { AgentRole } from "#domain/workspace/agent-role.ts";
import type { Clock } from "#runtime/clock.ts";
import type { Reader, Store, Tx } from "#database/contract.ts";
import { signOutWork } from "#conversations/agents/sign-out.ts";
import { handOnWork } from "#conversations/agents/hand-on.ts";
import { deleteOwned } from "#conversations/retention/purge-plan.ts";
import { isDuplicate } from "#database/duplicate-key.ts";
import { lockWorkspace } from "#database/queries/workspaces.ts";
import { insertWork } from "#database/queries/outbox.ts";
import { requireWorkspace } from "#admin/api-keys.ts";
import { recordChange } from "#admin/audit.ts";
import { changeAddress, heldConversations, usableAddress } from "./agent-address.ts";
import { dropAvatar } from "./drop-avatar.ts";
import { hashPassword, requirePassword } from "./passwords.ts";
import { requireOtherAdmin } from "./roles.ts";
import { joinExpectedTeams, setTeamsOf } from "./teams.ts";

export interface NewAgent {
  readonly workspaceId: string;
  readonly email: string;
  readonly name: string;
  readonly role: AgentRole;
  readonly password?: string | undefined;
}

export async function createAgent(store: Store, clock: Clock, given: NewAgent) {
  const workspace = await requireWorkspace(store, given.workspaceId);
  if (given.password !== undefined) requirePassword(given.password);
  const password = given.password === undefined ? null : await hashPassword(given.password);
  const agent = { ...given, workspaceId: workspace.id, password, invitedUntil: null };
  return store.write((tx) => insertAgent(tx, agent, clock.now()));
}

interface AgentRow extends Omit<NewAgent, "password"> {
  readonly password: string | null;
  readonly invitedUntil: number | null;
}

/** Throws Problem when the address or the name cannot be used, or an agent of the workspace has the address. */
export async function insertAgent(tx: Tx, given: AgentRow, now: number) {
  const email = usableAddress(given.email);
  const name = given.name.trim();
  if (name === "") throw new Problem("invalid_parameter", "name: customers see it, so it cannot be empty");
  const { workspaceId, role, password, invitedUntil } = given;
  const id = newId("agt", now);
  try {
    await tx
      .insertInto("agents")
      .values({
        id,
        workspace_id: workspaceId,
        email,
        name,
        role,
        password,
        invited_until: invitedUntil,
        created_at: now,
      })
      .execute();
  } catch (error) {
    if (isDuplicate(error))
      throw new Problem("already_exists", `email: ${email} is an agent of this workspace already`, { cause: error });
    throw error;
  }
  await joinExpectedTeams(tx, workspaceId, { id, email });
  return { id, workspace_id: workspaceId, email, name, role };
}

export async function listAgents(store: Store, workspaceId: string | undefined) {
  const query = store.read
    .selectFrom("agents")
    .select(["id", "workspace_id", "email", "name", "role", "away"])
    .orderBy("email");
  const of =
    workspaceId === undefined
      ? query
      : query.where("workspace_id", "=", (await requireWorkspace(store, workspaceId)).id);
  return (await of.execute()).map(({ away, ...agent }) => ({ ...agent, away: away === 1 }));
}

/** The agent of an address, for commands. Throws Problem not_found. */
export async function agentByEmail(store: Store, givenWorkspace: string, givenEmail: string) {
  const workspace = await requireWorkspace(store, givenWorkspace);
  const email = givenEmail.trim().toLowerCase();
  const agent = await store.read
    .selectFrom("agents")
    .select(["id", "email", "workspace_id"])
    .where("workspace_id", "=", workspace.id)
    .where("email", "=", email)
    .executeTakeFirst();
  if (agent !== undefined) return agent;
  throw new Problem("not_found", `there is no agent ${email} in ${workspace.id}; see: parley agent list`);
}

/** The agent of the workspace. Throws Problem not_found. */
export async function requireAgent(tx: Tx | Reader, workspaceId: string, agentId: string) {
  const agent = await tx
    .selectFrom("agents")
    .select(["id", "email", "name", "role", "away", "invited_until"])
    .where("id", "=", agentId)
    .where("workspace_id", "=", workspaceId)
    .executeTakeFirst();
  if (agent === undefined) throw new Problem("not_found", "There is no such agent in this workspace.");
  return agent;
}

export interface AgentChange {
  readonly name?: string;
  readonly email?: string;
  readonly role?: AgentRole;
  /** Away: rules assign no conversations to the agent. */
  readonly away?: boolean;
  /** Replaces the agent's teams. */
  readonly teamIds?: readonly string[];
}

/** Identifies an agent, and the author of a change. */
export interface AgentOf {
  readonly workspaceId: string;
  readonly agentId: string;
  readonly by: Actor;
}

/** Applies the whole change, or throws a Problem and changes nothing. The role counts from the agent's next request on. */
export const changeAgent = (store: Store, clock: Clock, agent: AgentOf, change: AgentChange): Promise<void> =>
  store.write((tx) => changeAgentIn(tx, agent, change, clock.now()));

export async function changeAgentIn(
  tx: Tx,
  { workspaceId, agentId, by }: AgentOf,
  change: AgentChange,
  now: number,
): Promise<void> {
  await lockWorkspace(tx, workspaceId);
  const agent = await requireAgent(tx, workspaceId, agentId);
  const record = (from: string, to: string) =>
    recordChange(tx, { workspaceId, by, action: "agent_changed", subject: agent.email, from, to, now });
  const { role = agent.role, name = agent.name, email = agent.email, away = agent.away === 1, teamIds } = change;
  if (role !== agent.role) {
    if (agent.role === "admin" && agent.invited_until === null) await requireOtherAdmin(tx, workspaceId, agentId);
    // An agent of another role can neither see nor revoke them.
    if (role !== "admin") await tx.deleteFrom("access_tokens").where("agent_id", "=", agentId).execute();
    if (agent.role === "admin") await endPasswordLinks(tx, workspaceId);
    await record(agent.role, role);
  }
  if (name.trim() === "") throw new Problem("invalid_parameter", "name: customers see it, so it cannot be empty");
  if (name.trim() !== agent.name) await record(agent.name, name.trim());
  const address = usableAddress(email);
  if (address !== agent.email) {
    await changeAddress(tx, { workspaceId, agentId, by }, agent, address, now);
    await record(agent.email, address);
  }
  if (away !== (agent.away === 1)) await record(away ? "here" : "away", away ? "away" : "here");
  const set = { role, name: name.trim(), away: away ? 1 : 0 } as const;
  await tx.updateTable("agents").set(set).where("id", "=", agentId).execute();
  if (teamIds === undefined) return;
  const { before, after } = await setTeamsOf(tx, workspaceId, agentId, teamIds);
  if (before !== after) await record(before, after);
}

/** `to`: the id of the agent who gets their conversations; null: the conversations wait in the queue. */
export interface AgentRemoval extends AgentOf {
  readonly to: string | null;
}

/**
 * Removes the account, and ends its sessions at once. Its messages keep their name. Their conversations are handed on by
 * a worker, soon after.
 */
export async function removeAgent(store: Store, clock: Clock, { workspaceId, agentId, by, to }: AgentRemoval) {
  return store.write(async (tx) => {
    await lockWorkspace(tx, workspaceId);
    const agent = await requireAgent(tx, workspaceId, agentId);
    const heir = to === null ? null : await requireAgent(tx, workspaceId, to);
    if (heir !== null && (heir.id === agentId || heir.role === "viewer" || heir.invited_until !== null)) {
      throw new Problem("invalid_parameter", `${heir.name} cannot take over these conversations.`);
    }
    const now = clock.now();
    if (agent.role === "admin" && agent.invited_until === null) await requireOtherAdmin(tx, workspaceId, agentId);
    if (agent.role === "admin") await endPasswordLinks(tx, workspaceId);
    const held = await heldConversations(tx, workspaceId, agent.email);
    await deleteAgent(tx, workspaceId, agentId, now);
    if (held > 0) {
      const work = { workspaceId, from: agent.email, to: heir?.email ?? null, by };
      await insertWork(tx, [handOnWork(work, now)], now);
    }
    await recordChange(tx, {
      workspaceId,
      by,
      action: "agent_removed",
      subject: agent.email,
      from: agent.role,
      to: heir?.email ?? null,
      now,
    });
    return { id: agent.id, email: agent.email, held };
  });
}

/** Ends the links that administrators have made: one of them is no administrator any more, and may still have some. */
export async function endPasswordLinks(tx: Tx, workspaceId: string): Promise<void> {
  await tx
    .deleteFrom("agent_tokens")
    .where("kind", "=", "password_link")
    .where("agent_id", "in", tx.selectFrom("agents").select("id").where("workspace_id", "=", workspaceId))
    .execute();
}

/** Deletes an agent's rows, and ends their live connections. */
export async function deleteAgent(tx: Tx, workspaceId: string, agentId: string, now: number): Promise<void> {
  await dropAvatar(tx, workspaceId, agentId, now);
  await deleteOwned(tx, "agent", [agentId]);
  await insertWork(tx, [signOutWork(agentId, now)], now);
}
