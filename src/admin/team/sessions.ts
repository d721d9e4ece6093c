import { hash } from "node:crypto";
import type { SignInMethod } from "#database/schema/sign-in.ts";
import type { Actor } from "#domain/conversation/message.ts";
import type { Clock } from "#runtime/clock.ts";
import type { Reader, Store, Tx } from "#database/contract.ts";
import { insertWork } from "#database/queries/outbox.ts";
import { signOutWork } from "#conversations/agents/sign-out.ts";
import { recordChange } from "#admin/audit.ts";
import { insertTokens } from "./agent-tokens.ts";

const sessionMs = 14 * 86_400_000;
/** Groups are applied at each sign-in, so a provider is asked every day. */
const providerSessionMs = 86_400_000;
/** Interval at which a session's last use is stored. */
const seenEveryMs = 60_000;
const userAgentMax = 300;
/** Maximum of sessions in a list. */
const listedMax = 200;

/** The browser of a session. */
export interface SessionClient {
  readonly userAgent: string | undefined;
  readonly network: string;
}

export function createSession(
  store: Store,
  clock: Clock,
  agentId: string,
  client: SessionClient,
  method: SignInMethod,
): Promise<string> {
  return store.write((tx) => insertSession(tx, agentId, client, method, clock.now()));
}

/** Every way of signing in ends here, so the agent has joined. Returns the token. */
export async function insertSession(
  tx: Tx,
  agentId: string,
  client: SessionClient,
  method: SignInMethod,
  now: number,
): Promise<string> {
  const [token = ""] = await insertTokens(tx, [agentId], "session", now, {
    lifeMs: method === "provider" ? providerSessionMs : sessionMs,
    userAgent: client.userAgent?.slice(0, userAgentMax) ?? null,
    network: client.network,
    method,
  });
  await tx.updateTable("agents").set({ invited_until: null, last_seen_at: now }).where("id", "=", agentId).execute();
  return token;
}

/** The agent of a session; undefined when it is unknown or has ended. */
export async function agentOfSession(store: Store, clock: Clock, token: string) {
  return store.read
    .selectFrom("agent_tokens")
    .innerJoin("agents", "agents.id", "agent_tokens.agent_id")
    .select(["agents.id", "agents.workspace_id", "agents.email", "agents.name", "agents.role", "agents.waiting_order"])
    .select(["agent_tokens.last_seen_at", "agent_tokens.method"])
    .where("agent_tokens.hash", "=", hash("sha256", token))
    .where("agent_tokens.kind", "=", "session")
    .where("agent_tokens.expires_at", ">", clock.now())
    .executeTakeFirst();
}

/** The tokens among these whose sessions have not ended. */
export async function lastingSessions(db: Reader, tokens: Iterable<string>, now: number): Promise<ReadonlySet<string>> {
  const byHash = new Map([...tokens].map((token) => [hash("sha256", token), token]));
  const rows = await db
    .selectFrom("agent_tokens")
    .select("hash")
    .where("hash", "in", [...byHash.keys()])
    .where("kind", "=", "session")
    .where("expires_at", ">", now)
    .execute();
  return new Set(rows.map((row) => byHash.get(row.hash) ?? ""));
}

/** Stores the last use of a session and of its agent, to the minute. */
export async function recordSessionUse(
  store: Store,
  agent: { readonly id: string; readonly last_seen_at: number | null },
  token: string,
  now: number,
): Promise<void> {
  const seen = agent.last_seen_at;
  if (seen !== null && now - seen < seenEveryMs && now >= seen) return;
  await store.write(async (tx) => {
    await tx.updateTable("agent_tokens").set({ last_seen_at: now }).where("hash", "=", hash("sha256", token)).execute();
    await tx.updateTable("agents").set({ last_seen_at: now }).where("id", "=", agent.id).execute();
  });
}

export async function endSession(store: Store, token: string): Promise<void> {
  await store.write((tx) => tx.deleteFrom("agent_tokens").where("hash", "=", hash("sha256", token)).execute());
}

/** A part of the token's hash, which is of no use to sign in or to find the token. */
const idOf = (tokenHash: string): string => `ses_${tokenHash.slice(0, 32)}`;

export const sessionIdOf = (token: string): string => idOf(hash("sha256", token));

/** The sessions of an agent that have not ended, the last used first. */
export async function listSessions(db: Reader | Tx, agentId: string, now: number) {
  const rows = await db
    .selectFrom("agent_tokens")
    .select(["hash", "method", "user_agent", "network", "last_seen_at", "created_at", "expires_at"])
    .where("agent_id", "=", agentId)
    .where("kind", "=", "session")
    .where("expires_at", ">", now)
    .orderBy("last_seen_at", "desc")
    .orderBy("created_at", "desc")
    .limit(listedMax)
    .execute();
  return rows.map(({ hash: tokenHash, ...row }) => ({ ...row, id: idOf(tokenHash), tokenHash }));
}

export interface SessionEnd {
  readonly workspaceId: string;
  readonly agent: { readonly id: string; readonly email: string };
  readonly by: Actor;
  readonly now: number;
}

/** Ends one session, and its live connections in all processes. False: there is no such session. */
export async function endSessionById(tx: Tx, id: string, end: SessionEnd): Promise<boolean> {
  const session = (await listSessions(tx, end.agent.id, end.now)).find((each) => each.id === id);
  if (session === undefined) return false;
  await tx.deleteFrom("agent_tokens").where("hash", "=", session.tokenHash).execute();
  await recordEnd(tx, end, null);
  return true;
}

/**
 * Ends all sessions of an agent, links by which others let them in, and their live connections. `except`: the token of the session that
 * stays. Without it the agent's access tokens are revoked too, because another person may have made them.
 */
export async function endSessions(tx: Tx, end: SessionEnd, except?: string): Promise<void> {
  const tokens = tx
    .deleteFrom("agent_tokens")
    .where("agent_id", "=", end.agent.id)
    .where("kind", "in", ["session", "login_link", "password_link"]);
  const others = except === undefined ? tokens : tokens.where("hash", "!=", hash("sha256", except));
  let ended = (await others.executeTakeFirst()).numDeletedRows;
  if (except === undefined) {
    const revoked = tx.deleteFrom("access_tokens").where("agent_id", "=", end.agent.id);
    ended += (await revoked.executeTakeFirst()).numDeletedRows;
  }
  if (ended > 0n) await recordEnd(tx, end, "all");
}

async function recordEnd(tx: Tx, { workspaceId, agent, by, now }: SessionEnd, to: string | null): Promise<void> {
  await insertWork(tx, [signOutWork(agent.id, now)], now);
  await recordChange(tx, { workspaceId, by, action: "session_revoked", subject: agent.email, to, now });
}
