import { Problem } from "#domain/problem.ts";
import type { Actor } from "#domain/conversation/message.ts";
import type { Clock } from "#runtime/clock.ts";
import type { Reader, Store } from "#database/contract.ts";
import { recordChange } from "#admin/audit.ts";
import { signInStepKinds } from "#admin/team/agent-tokens.ts";
import { hashPassword, passwordMatches, requirePassword } from "#admin/team/passwords.ts";
import { endSessions } from "#admin/team/sessions.ts";

/** The agent who changes their own account. */
export interface OwnAccount {
  readonly agentId: string;
  readonly email: string;
  readonly workspaceId: string;
  readonly actor: Actor;
}

/** Throws Problem unless this is the agent's password. An agent without a password has nothing to prove. */
export async function requireOwnPassword(
  db: Reader,
  agentId: string,
  given: string | undefined,
  field: string,
): Promise<void> {
  const { password } = await db
    .selectFrom("agents")
    .select("password")
    .where("id", "=", agentId)
    .executeTakeFirstOrThrow();
  if (password === null || (given !== undefined && (await passwordMatches(password, given)))) return;
  throw new Problem("invalid_parameter", `${field}: this is not your current password.`);
}

/** Sets the password and ends the agent's other sessions. `keep`: the token of the session that stays. */
export async function changePassword(
  { store, clock }: { readonly store: Store; readonly clock: Clock },
  account: OwnAccount,
  password: string,
  keep: string | undefined,
): Promise<void> {
  const { agentId, email, workspaceId, actor } = account;
  requirePassword(password);
  const hashed = await hashPassword(password);
  await store.write(async (tx) => {
    const now = clock.now();
    await tx.updateTable("agents").set({ password: hashed }).where("id", "=", agentId).execute();
    await tx.deleteFrom("agent_tokens").where("agent_id", "=", agentId).where("kind", "in", signInStepKinds).execute();
    await endSessions(tx, { workspaceId, agent: { id: agentId, email }, by: actor, now }, keep);
    await recordChange(tx, { workspaceId, by: actor, action: "sign_in_changed", subject: `password of ${email}`, now });
  });
}

/** Values that agents change themselves. */
export interface OwnProfile {
  /** Customers see it on later messages. */
  readonly name?: string;
  /** Rules assign no conversations to an agent who is away. */
  readonly away?: boolean;
}

export async function changeOwnProfile(
  { store, clock }: { readonly store: Store; readonly clock: Clock },
  { agentId, workspaceId, actor, email }: OwnAccount,
  change: OwnProfile,
): Promise<void> {
  await store.write(async (tx) => {
    const before = await tx
      .selectFrom("agents")
      .select(["name", "away"])
      .where("id", "=", agentId)
      .executeTakeFirstOrThrow();
    const { name = before.name, away = before.away === 1 } = change;
    const flag: 0 | 1 = away ? 1 : 0;
    const set = {
      ...(change.name === undefined ? {} : { name }),
      ...(change.away === undefined ? {} : { away: flag }),
    };
    if (Object.keys(set).length === 0) return;
    await tx.updateTable("agents").set(set).where("id", "=", agentId).execute();
    const record = (from: string, to: string) =>
      recordChange(tx, { workspaceId, by: actor, action: "agent_changed", subject: email, from, to, now: clock.now() });
    if (name !== before.name) await record(before.name, name);
    if (away !== (before.away === 1)) await record(away ? "here" : "away", away ? "away" : "here");
  });
}
