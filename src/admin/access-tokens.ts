import { hash } from "node:crypto";
import { newId, newSecret } from "#domain/ids.ts";
import { Problem } from "#domain/problem.ts";
import type { Actor } from "#domain/conversation/message.ts";
import type { Clock } from "#runtime/clock.ts";
import type { Store } from "#database/contract.ts";
import { recordChange } from "./audit.ts";
import type { AgentOf } from "./team/agents.ts";
import { requireAgent } from "./team/agents.ts";
import { requireRoomForToken } from "./workspaces/caps.ts";

const useEveryMs = 60_000;

export interface NewAccessToken {
  readonly workspaceId: string;
  readonly agentId: string;
  readonly name: string;
  readonly scope: "read" | "write";
  /** Epoch milliseconds; null: until it is revoked. */
  readonly expiresAt: number | null;
  readonly by: Actor;
}

/** Makes a token. The result has the only unencrypted copy. */
export async function createAccessToken(store: Store, clock: Clock, given: NewAccessToken) {
  const now = clock.now();
  if (given.expiresAt !== null && given.expiresAt <= now) {
    throw new Problem("invalid_parameter", "expires_at: it must be in the future");
  }
  const token = newSecret("pat");
  const row = {
    id: newId("pat", now),
    agent_id: given.agentId,
    workspace_id: given.workspaceId,
    name: given.name.trim(),
    hash: hash("sha256", token),
    hint: token.slice(-4),
    scope: given.scope,
    expires_at: given.expiresAt,
    last_used_at: null,
    created_at: now,
  };
  await store.write(async (tx) => {
    const { workspaceId, agentId, by } = given;
    await requireRoomForToken(tx, workspaceId, agentId, now);
    await tx.insertInto("access_tokens").values(row).execute();
    await recordChange(tx, { workspaceId, by, action: "access_token_added", subject: row.name, now });
  });
  return { ...row, token };
}

/** The tokens of an agent, newest first. */
export function listAccessTokens(store: Store, agentId: string) {
  return store.read
    .selectFrom("access_tokens")
    .select(["id", "name", "hint", "scope", "expires_at", "last_used_at", "created_at"])
    .where("agent_id", "=", agentId)
    .orderBy("id", "desc")
    .execute();
}

export interface AccessTokenOf extends AgentOf {
  readonly id: string;
}

/** False when the agent has no such token. Later requests with it are refused. */
export async function revokeAccessToken(
  store: Store,
  clock: Clock,
  { id, agentId, workspaceId, by }: AccessTokenOf,
): Promise<boolean> {
  return store.write(async (tx) => {
    const { email } = await requireAgent(tx, workspaceId, agentId);
    const row = await tx
      .selectFrom("access_tokens")
      .select("name")
      .where("id", "=", id)
      .where("agent_id", "=", agentId)
      .executeTakeFirst();
    if (row === undefined) return false;
    await tx.deleteFrom("access_tokens").where("id", "=", id).execute();
    await recordChange(tx, {
      workspaceId,
      by,
      action: "access_token_revoked",
      subject: row.name,
      // The holder, where another administrator revokes it.
      from: email === by.id ? null : email,
      now: clock.now(),
    });
    return true;
  });
}

/** The token and its agent. Undefined when the token was revoked or never existed. */
export async function agentOfAccessToken(store: Store, token: string) {
  const row = await store.read
    .selectFrom("access_tokens")
    .innerJoin("agents", "agents.id", "access_tokens.agent_id")
    .select(["agents.id", "agents.workspace_id", "agents.email", "agents.name", "agents.role"])
    .select(["access_tokens.id as tokenId", "access_tokens.name as tokenName", "access_tokens.scope"])
    .select(["access_tokens.expires_at as expiresAt", "access_tokens.last_used_at as lastUsedAt"])
    .where("access_tokens.hash", "=", hash("sha256", token))
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const { tokenId, tokenName, scope, expiresAt, lastUsedAt, ...agent } = row;
  return { agent, token: { id: tokenId, name: tokenName, scope, expiresAt, lastUsedAt } };
}

/** Stores the last use, to the minute. */
export async function recordTokenUse(
  store: Store,
  { id, lastUsedAt }: { readonly id: string; readonly lastUsedAt: number | null },
  now: number,
): Promise<void> {
  if (lastUsedAt !== null && now - lastUsedAt < useEveryMs && now >= lastUsedAt) return;
  await store.write((tx) => tx.updateTable("access_tokens").set({ last_used_at: now }).where("id", "=", id).execute());
}
