import { hash } from "node:crypto";
import { Type } from "typebox";
import type { Clock } from "#runtime/clock.ts";
import type { Secrets } from "#runtime/secrets.ts";
import type { Reader, Store, Tx } from "#database/contract.ts";
import { lockWorkspace } from "#database/queries/workspaces.ts";
import { finishWork, insertWork } from "#database/queries/outbox.ts";
import { Problem } from "#domain/problem.ts";
import type { WorkDeclaration } from "#database/work.ts";
import { declareWork, eachRow, workKind } from "#database/work.ts";
import { mailWork } from "#mail/work.ts";
import { recordChange } from "#admin/audit.ts";
import { providerOnly } from "./provider/agents-of-provider.ts";
import { insertTokens, passwordLinkKinds, signInStepKinds } from "#admin/team/agent-tokens.ts";
import type { AgentOf } from "#admin/team/agents.ts";
import { requireAgent } from "#admin/team/agents.ts";
import { hashPassword, requirePassword } from "#admin/team/passwords.ts";
import { endSessions } from "#admin/team/sessions.ts";

const resetMs = 3_600_000;
/** An administrator passes the link on by hand. */
const linkMs = 24 * 3_600_000;

const resetKind = workKind("password-reset", Type.Object({ email: Type.String() }), {
  // It would end the link of a later request, and surprise somebody who has given up on this one.
  canRetry: () => false,
});

/** Queues the mail. Whether the address is known is found out later, so that the answer takes as long for any address. */
export async function requestReset(store: Store, clock: Clock, given: string): Promise<void> {
  const now = clock.now();
  const email = given.trim().toLowerCase();
  const work = resetKind.queued(`password-reset:${hash("sha256", email)}`, { email }, now);
  await store.write((tx) => insertWork(tx, [work], now));
}

/** Sends a link to an address that an agent has. */
export function declarePasswordReset({
  store,
  clock,
  secrets,
  publicUrl,
}: {
  readonly store: Store;
  readonly clock: Clock;
  readonly secrets: Pick<Secrets, "seal">;
  readonly publicUrl: string;
}): WorkDeclaration {
  return declareWork(resetKind, {
    attemptsMax: 10,
    lanesMax: 2,
    run: eachRow((row) =>
      store.write(async (tx) => {
        await finishWork(tx, [row]);
        const { email } = row.payload;
        const agents = await agentsOf(tx, email);
        const [first] = agents;
        if (first === undefined) return;
        const now = clock.now();
        const ids = agents.map(({ id }) => id);
        await tx.deleteFrom("agent_tokens").where("agent_id", "in", ids).where("kind", "=", "password_reset").execute();
        const [token = ""] = await insertTokens(tx, [first.id], "password_reset", now, { lifeMs: resetMs });
        const mail = { to: email, subject: "Set a new password for Parley", text: textOf(email, publicUrl, token) };
        await insertWork(tx, [mailWork(secrets, mail, now, resetMs)], now);
      }),
    ),
  });
}

const textOf = (email: string, publicUrl: string, token: string): string =>
  `Somebody asked for a new password for ${email} at ${publicUrl}.

Set it here, within an hour:
${passwordUrl(publicUrl, token)}

If it was not you, do nothing: your password stays as it is.
`;

/** A link that an administrator hands to a colleague, and the end of it. */
export interface PasswordLink {
  readonly token: string;
  readonly expiresAt: number;
}

/**
 * Makes a link that sets a colleague's password in this workspace alone: an administrator must not reach their accounts in
 * others. The password before works until the link is used. Earlier links of this kind end.
 */
export function createPasswordLink(
  store: Store,
  clock: Clock,
  { workspaceId, agentId, by, makerId }: AgentOf & { readonly makerId: string },
): Promise<PasswordLink> {
  return store.write(async (tx) => {
    await lockWorkspace(tx, workspaceId);
    // The links of a colleague who is no administrator any more have ended; a late one must not follow.
    const { role } = await requireAgent(tx, workspaceId, makerId);
    if (role !== "admin" || (await providerOnly(tx, makerId)) !== undefined)
      throw new Problem("insufficient_role", "Only administrators make these links.");
    const { email, name, invited_until: invitedUntil } = await requireAgent(tx, workspaceId, agentId);
    if (invitedUntil !== null) {
      throw new Problem("invalid_transition", `${name} has not joined yet. Make a new invitation link instead.`);
    }
    const provider = await providerOnly(tx, agentId);
    if (provider !== undefined) {
      throw new Problem("invalid_transition", `${name} can sign in through ${provider.label} only.`);
    }
    const now = clock.now();
    await tx.deleteFrom("agent_tokens").where("agent_id", "=", agentId).where("kind", "=", "password_link").execute();
    const [token = ""] = await insertTokens(tx, [agentId], "password_link", now, { lifeMs: linkMs });
    const subject = `link to set the password of ${email}`;
    await recordChange(tx, { workspaceId, by, action: "sign_in_added", subject, now });
    return { token, expiresAt: now + linkMs };
  });
}

/** The page that sets a password. */
export const passwordUrl = (publicUrl: string, token: string): string => `${publicUrl}/inbox/login/reset/${token}`;

/** The accounts of an address that may sign in with a password, one in each workspace. */
async function agentsOf(tx: Tx, email: string) {
  const agents = await passwordAccounts(tx)
    .where("agents.email", "=", email)
    .orderBy("agents.id")
    .limit(accountsMax)
    .execute();
  return withPassword(tx, agents);
}

const accountsMax = 50;

const passwordAccounts = (tx: Tx) =>
  tx
    .selectFrom("agents")
    .innerJoin("workspaces", "workspaces.id", "agents.workspace_id")
    .select(["agents.id", "agents.email", "agents.name", "agents.workspace_id"])
    .where("agents.invited_until", "is", null)
    .where("workspaces.deleted_at", "is", null);

async function withPassword<Account extends { readonly id: string }>(tx: Tx, agents: readonly Account[]) {
  const found: Account[] = [];
  for (const agent of agents) if ((await providerOnly(tx, agent.id)) === undefined) found.push(agent);
  return found;
}

/** The agent whose password the link sets. Undefined: it is unknown, used or expired. */
export async function agentOfPasswordLink(db: Reader | Tx, token: string, now: number) {
  return db
    .selectFrom("agent_tokens")
    .innerJoin("agents", "agents.id", "agent_tokens.agent_id")
    .select(["agents.id", "agents.email", "agent_tokens.kind"])
    .where("agent_tokens.hash", "=", hash("sha256", token))
    .where("agent_tokens.kind", "in", passwordLinkKinds)
    .where("agent_tokens.expires_at", ">", now)
    .executeTakeFirst();
}

/** Sets the password, and ends the sessions that it opened before. False: the link does not work any more. */
export async function resetPassword(store: Store, clock: Clock, token: string, password: string): Promise<boolean> {
  requirePassword(password);
  const hashed = await hashPassword(password);
  return store.write(async (tx) => {
    const now = clock.now();
    const agent = await agentOfPasswordLink(tx, token, now);
    const link = tx.deleteFrom("agent_tokens").where("hash", "=", hash("sha256", token));
    if (agent === undefined || (await link.executeTakeFirst()).numDeletedRows !== 1n) return false;
    const isMailed = agent.kind === "password_reset";
    const accounts = isMailed
      ? await agentsOf(tx, agent.email)
      : await withPassword(tx, await passwordAccounts(tx).where("agents.id", "=", agent.id).execute());
    if (accounts.length === 0) return false;
    for (const { id, name, email, workspace_id: workspaceId } of accounts) {
      const by = { type: "agent", id: email, name } as const;
      await tx.updateTable("agents").set({ password: hashed }).where("id", "=", id).execute();
      const pages = tx.deleteFrom("agent_tokens").where("agent_id", "=", id);
      await pages.where("kind", "in", signInStepKinds).execute();
      await endSessions(tx, { workspaceId, agent: { id, email }, by, now });
      const subject = `password of ${email}, by ${isMailed ? "a mailed link" : "an administrator's link"}`;
      await recordChange(tx, { workspaceId, by, action: "sign_in_changed", subject, now });
    }
    return true;
  });
}
