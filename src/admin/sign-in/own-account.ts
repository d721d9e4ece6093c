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

/** Changes the name that customers see on later messages. */
export async function changeOwnName(
  { store, clock }: { readonly store: Store; readonly clock: Clock },
  { agentId, workspaceId, actor, email }: OwnAccount,
  name: string,
): Promise<void> {
  if (name === actor.name) return;
  await store.write(async (tx) => {
    await tx.updateTable("agents").set({ name }).where("id", "=", agentId).execute();
    const change = {
      workspaceId,
      by: actor,
      action: "agent_changed",
      subject: email,
      from: actor.name,
      to: name,
    } as const;
    await recordChange(tx, { ...change, now: clock.now() });
  });
}
