import { hash } from "node:crypto";
import { Type } from "typebox";
import type { Clock } from "#runtime/clock.ts";
import type { Secrets } from "#runtime/secrets.ts";
import type { Reader, Store, Tx } from "#database/contract.ts";
import { finishWork, insertWork } from "#database/queries/outbox.ts";
import type { WorkDeclaration } from "#database/work.ts";
import { declareWork, eachRow, workKind } from "#database/work.ts";
import { mailWork } from "#mail/work.ts";
import { recordChange } from "#admin/audit.ts";
import { providerOnly } from "./provider/agents-of-provider.ts";
import { insertTokens } from "#admin/team/agent-tokens.ts";
import { hashPassword, requirePassword } from "#admin/team/passwords.ts";
import { endSessions } from "#admin/team/sessions.ts";

const resetMs = 3_600_000;

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
${publicUrl}/inbox/login/reset/${token}

If it was not you, do nothing: your password stays as it is.
`;

/** The accounts of an address that may sign in with a password, one in each workspace. */
async function agentsOf(tx: Tx, email: string) {
  const agents = await tx
    .selectFrom("agents")
    .innerJoin("workspaces", "workspaces.id", "agents.workspace_id")
    .select(["agents.id", "agents.email", "agents.name", "agents.workspace_id"])
    .where("agents.email", "=", email)
    .where("agents.invited_until", "is", null)
    .where("workspaces.deleted_at", "is", null)
    .orderBy("agents.id")
    .limit(accountsMax)
    .execute();
  const found: (typeof agents)[number][] = [];
  for (const agent of agents) if ((await providerOnly(tx, agent.id)) === undefined) found.push(agent);
  return found;
}

const accountsMax = 50;

/** The address whose password the link sets. Undefined: it is unknown, used or expired. */
export async function addressOfReset(db: Reader | Tx, token: string, now: number): Promise<string | undefined> {
  const row = await db
    .selectFrom("agent_tokens")
    .innerJoin("agents", "agents.id", "agent_tokens.agent_id")
    .select("agents.email")
    .where("agent_tokens.hash", "=", hash("sha256", token))
    .where("agent_tokens.kind", "=", "password_reset")
    .where("agent_tokens.expires_at", ">", now)
    .executeTakeFirst();
  return row?.email;
}

/** Sets the password of all accounts of the address, and ends their sessions. False: the link does not work any more. */
export async function resetPassword(store: Store, clock: Clock, token: string, password: string): Promise<boolean> {
  requirePassword(password);
  const hashed = await hashPassword(password);
  return store.write(async (tx) => {
    const now = clock.now();
    const email = await addressOfReset(tx, token, now);
    const link = tx.deleteFrom("agent_tokens").where("hash", "=", hash("sha256", token));
    if (email === undefined || (await link.executeTakeFirst()).numDeletedRows !== 1n) return false;
    for (const { id, name, workspace_id: workspaceId } of await agentsOf(tx, email)) {
      const by = { type: "agent", id: email, name } as const;
      await tx.updateTable("agents").set({ password: hashed }).where("id", "=", id).execute();
      const pages = tx.deleteFrom("agent_tokens").where("agent_id", "=", id);
      await pages.where("kind", "in", ["choice", "code_page", "password_reset"]).execute();
      await endSessions(tx, { workspaceId, agent: { id, email }, by, now });
      const subject = `password of ${email}, by a mailed link`;
      await recordChange(tx, { workspaceId, by, action: "sign_in_changed", subject, now });
    }
    return true;
  });
}
