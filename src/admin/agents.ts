import { hash, randomBytes, scrypt, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";
import { newId } from "#domain/ids.ts";
import { Problem } from "#domain/problem.ts";
import type { Clock } from "#runtime/clock.ts";
import type { Store } from "#database/contract.ts";
import { signOutWork } from "#conversations/agents/sign-out.ts";
import { isDuplicate } from "#database/duplicate-key.ts";
import { insertWork } from "#database/queries/outbox.ts";
import { requireWorkspace } from "./api-keys.ts";

const derive = promisify<string, Buffer, number, Buffer>(scrypt);

export interface NewAgent {
  readonly workspaceId: string;
  readonly email: string;
  readonly name: string;
  readonly role: "agent" | "admin";
  readonly password?: string | undefined;
}

const emailPattern = /^[^\s@]{1,64}@[^\s@]{1,120}$/;
const loginLinkMs = 24 * 3_600_000;
const sessionMs = 14 * 86_400_000;

export async function createAgent(store: Store, clock: Clock, given: NewAgent) {
  const workspace = await requireWorkspace(store, given.workspaceId);
  const email = given.email.trim().toLowerCase();
  if (!emailPattern.test(email))
    throw new Problem("invalid_parameter", `email: "${given.email}" is not an e-mail address`);
  if (given.name.trim() === "") throw new Problem("invalid_parameter", "name: customers see it, so it cannot be empty");
  if (given.password !== undefined && given.password.length < 10) {
    throw new Problem("invalid_parameter", "password: use at least 10 characters");
  }
  const password = given.password === undefined ? null : await hashPassword(given.password);
  const now = clock.now();
  const id = newId("agt", now);
  try {
    await store.write((tx) =>
      tx
        .insertInto("agents")
        .values({
          id,
          workspace_id: workspace.id,
          email,
          name: given.name.trim(),
          role: given.role,
          password,
          created_at: now,
        })
        .execute(),
    );
  } catch (error) {
    if (isDuplicate(error))
      throw new Problem("invalid_parameter", `email: ${email} is an agent of this workspace already`, { cause: error });
    throw error;
  }
  return { id, workspace_id: workspace.id, email, name: given.name.trim(), role: given.role };
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

/** Whether rules assign conversations to an agent in turn. */
export async function setAgentAway(store: Store, givenWorkspace: string, givenEmail: string, away: boolean) {
  const workspace = await requireWorkspace(store, givenWorkspace);
  const email = givenEmail.trim().toLowerCase();
  const result = await store.write((tx) =>
    tx
      .updateTable("agents")
      .set({ away: away ? 1 : 0 })
      .where("workspace_id", "=", workspace.id)
      .where("email", "=", email)
      .executeTakeFirst(),
  );
  const known = await listAgents(store, workspace.id);
  if (result.numUpdatedRows === 0n && !known.some((agent) => agent.email === email)) {
    throw new Problem("not_found", `there is no agent ${email} in ${workspace.id}; see: parley agent list`);
  }
  return { email, away };
}

/** Ends every session of an agent at once. What they wrote stays theirs, and what they claimed stays assigned. */
export async function removeAgent(store: Store, clock: Clock, givenWorkspace: string, givenEmail: string) {
  const workspace = await requireWorkspace(store, givenWorkspace);
  const email = givenEmail.trim().toLowerCase();
  return store.write(async (tx) => {
    const agent = await tx
      .selectFrom("agents")
      .select("id")
      .where("workspace_id", "=", workspace.id)
      .where("email", "=", email)
      .executeTakeFirst();
    if (agent === undefined)
      throw new Problem("not_found", `there is no agent ${email} in ${workspace.id}; see: parley agent list`);
    await tx.deleteFrom("agent_tokens").where("agent_id", "=", agent.id).execute();
    await tx.deleteFrom("agents").where("id", "=", agent.id).execute();
    await insertWork(tx, [signOutWork(agent.id, clock.now())], clock.now());
    const { claimed } = await tx
      .selectFrom("conversations")
      .select((eb) => eb.fn.countAll<number>().as("claimed"))
      .where("workspace_id", "=", workspace.id)
      .where("status", "in", ["claimed", "snoozed"])
      .where("assigned_to", "=", email)
      .executeTakeFirstOrThrow();
    return { id: agent.id, email, claimed };
  });
}

async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16);
  return `${salt.toString("base64")}:${(await derive(password, salt, 32)).toString("base64")}`;
}

export interface PasswordAgent {
  readonly id: string;
  /** Name of the workspace, with its id where another has the same name. */
  readonly workspace: string;
}

/** One attempt checks no more accounts than this: each takes tens of milliseconds of a processor. */
const accountsMax = 50;

/**
 * The agents that this address and password are right for, one in each workspace, in the order of their names. Takes as
 * long for an unknown address as for one that is known in one workspace.
 */
export async function checkPassword(store: Store, email: string, password: string): Promise<readonly PasswordAgent[]> {
  const rows = await store.read
    .selectFrom("agents")
    .innerJoin("workspaces", "workspaces.id", "agents.workspace_id")
    .select(["agents.id", "agents.password", "workspaces.name", "workspaces.id as workspaceId"])
    .where("agents.email", "=", email.trim().toLowerCase())
    .where("agents.password", "is not", null)
    .where("workspaces.deleted_at", "is", null)
    .orderBy("workspaces.name")
    .orderBy("agents.id")
    .limit(accountsMax)
    .execute();
  const nobody = {
    id: "",
    name: "",
    workspaceId: "",
    password: `${Buffer.alloc(16).toString("base64")}:${Buffer.alloc(32).toString("base64")}`,
  };
  const found: (typeof rows)[number][] = [];
  for (const row of rows.length === 0 ? [nobody] : rows) {
    const [salt = "", expected = ""] = (row.password ?? "").split(":");
    const given = await derive(password, Buffer.from(salt, "base64"), 32);
    if (timingSafeEqual(given, Buffer.from(expected, "base64")) && row.id !== "") found.push(row);
  }
  const isShared = (name: string): boolean => found.filter((row) => row.name === name).length > 1;
  return found.map(({ id, name, workspaceId }) => ({
    id,
    workspace: isShared(name) ? `${name} (${workspaceId})` : name,
  }));
}

/** A token that signs in once; only its hash is stored. */
export async function createLoginToken(
  store: Store,
  clock: Clock,
  agentId: string,
  lifeMs = loginLinkMs,
): Promise<string> {
  const [token = ""] = await insertTokens(store, clock, [agentId], "login_link", lifeMs);
  return token;
}

/** One token for each agent of a person, of which one can be redeemed. */
export async function createLoginChoices(
  store: Store,
  clock: Clock,
  agentIds: readonly string[],
  lifeMs: number,
): Promise<readonly string[]> {
  return insertTokens(store, clock, agentIds, "login_link", lifeMs);
}

async function insertTokens(
  store: Store,
  clock: Clock,
  agentIds: readonly string[],
  kind: "login_link" | "session",
  lifeMs: number,
): Promise<readonly string[]> {
  const now = clock.now();
  const tokens = agentIds.map((agentId) => ({ agentId, token: randomBytes(32).toString("base64url") }));
  await store.write((tx) =>
    tx
      .insertInto("agent_tokens")
      .values(
        tokens.map(({ agentId, token }) => ({
          hash: hash("sha256", token),
          agent_id: agentId,
          kind,
          expires_at: now + lifeMs,
          used_at: null,
          created_at: now,
        })),
      )
      .execute(),
  );
  return tokens.map(({ token }) => token);
}

/** Trades a login link for a session, once. Undefined when the link is unknown, used or too old. */
export async function redeemLogin(store: Store, clock: Clock, token: string): Promise<string | undefined> {
  const now = clock.now();
  const agentId = await store.write(async (tx) => {
    const digest = hash("sha256", token);
    const result = await tx
      .updateTable("agent_tokens")
      .set({ used_at: now })
      .where("hash", "=", digest)
      .where("kind", "=", "login_link")
      .where("used_at", "is", null)
      .where("expires_at", ">", now)
      .executeTakeFirst();
    if (Number(result.numUpdatedRows) !== 1) return undefined;
    const redeemed = await tx
      .selectFrom("agent_tokens")
      .innerJoin("agents", "agents.id", "agent_tokens.agent_id")
      .select(["agents.id", "agents.email", "agent_tokens.expires_at", "agent_tokens.created_at"])
      .where("hash", "=", digest)
      .executeTakeFirst();
    if (redeemed === undefined) return undefined;
    // The other choices of the same attempt, which were made for this person at the same moment.
    await tx
      .deleteFrom("agent_tokens")
      .where("kind", "=", "login_link")
      .where("hash", "!=", digest)
      .where("expires_at", "=", redeemed.expires_at)
      .where("created_at", "=", redeemed.created_at)
      .where("agent_id", "in", tx.selectFrom("agents").select("id").where("email", "=", redeemed.email))
      .execute();
    return redeemed.id;
  });
  return agentId === undefined ? undefined : createSession(store, clock, agentId);
}

export async function createSession(store: Store, clock: Clock, agentId: string): Promise<string> {
  const [token = ""] = await insertTokens(store, clock, [agentId], "session", sessionMs);
  return token;
}

/** The agent of a session; undefined when it is unknown or has ended. */
export async function agentOfSession(store: Store, clock: Clock, token: string) {
  return store.read
    .selectFrom("agent_tokens")
    .innerJoin("agents", "agents.id", "agent_tokens.agent_id")
    .select(["agents.id", "agents.workspace_id", "agents.email", "agents.name", "agents.role", "agents.waiting_order"])
    .where("agent_tokens.hash", "=", hash("sha256", token))
    .where("agent_tokens.kind", "=", "session")
    .where("agent_tokens.expires_at", ">", clock.now())
    .executeTakeFirst();
}

export async function endSession(store: Store, token: string): Promise<void> {
  await store.write((tx) => tx.deleteFrom("agent_tokens").where("hash", "=", hash("sha256", token)).execute());
}
