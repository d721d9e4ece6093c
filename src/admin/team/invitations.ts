import { hash } from "node:crypto";
import type { Actor } from "#domain/conversation/message.ts";
import { Problem } from "#domain/problem.ts";
import { storedSettings } from "#domain/workspace/settings.ts";
import type { AgentRole } from "#domain/workspace/agent-role.ts";
import type { Clock } from "#runtime/clock.ts";
import type { Reader, Store, Tx } from "#database/contract.ts";
import { insertWork } from "#database/queries/outbox.ts";
import { mailWork } from "#mail/work.ts";
import type { Secrets } from "#runtime/secrets.ts";
import { recordChange } from "#admin/audit.ts";
import { insertTokens } from "./agent-tokens.ts";
import type { AgentOf } from "./agents.ts";
import { deleteAgent, insertAgent, requireAgent } from "./agents.ts";
import { hashPassword, requirePassword } from "./passwords.ts";
import type { SessionClient } from "./sessions.ts";
import { insertSession } from "./sessions.ts";
import { listTeams, setTeamsOf } from "./teams.ts";

const invitationMs = 7 * 86_400_000;

export interface Invited {
  readonly workspaceId: string;
  readonly email: string;
  readonly name: string;
  readonly role: AgentRole;
  readonly teamIds: readonly string[];
  readonly by: Actor;
}

/** `token`: opens the invitation; only its hash is stored. */
export interface Invitation {
  readonly agentId: string;
  readonly email: string;
  readonly token: string;
  readonly expiresAt: number;
}

/** Sends invitations by mail. `publicUrl`: the address of the installation. */
export interface InvitationMail {
  readonly secrets: Pick<Secrets, "seal">;
  readonly publicUrl: string;
}

/** Adds an agent who joins by the invitation. Rules assign nothing to them before. `mail` null: none is sent. */
export const inviteAgent = (
  store: Store,
  clock: Clock,
  given: Invited,
  mail: InvitationMail | null,
): Promise<Invitation> => store.write((tx) => inviteAgentIn(tx, given, mail, clock.now()));

export async function inviteAgentIn(
  tx: Tx,
  given: Invited,
  mail: InvitationMail | null,
  now: number,
): Promise<Invitation> {
  const { workspaceId, teamIds, by, role } = given;
  const agent = await insertAgent(tx, { ...given, password: null, invitedUntil: now + invitationMs }, now);
  const joined = (await listTeams(tx, workspaceId)).filter(({ agentIds }) => agentIds.includes(agent.id));
  await setTeamsOf(tx, workspaceId, agent.id, [...teamIds, ...joined.map(({ id }) => id)]);
  await recordChange(tx, { workspaceId, by, action: "agent_added", subject: agent.email, to: role, now });
  return issue(tx, agent, now, mail);
}

/** Makes a new link. Earlier ones no longer work. */
export function renewInvitation(
  store: Store,
  clock: Clock,
  { workspaceId, agentId, by }: AgentOf,
  mail: InvitationMail | null,
) {
  return store.write(async (tx) => {
    const now = clock.now();
    const agent = await requireInvited(tx, workspaceId, agentId);
    await tx
      .updateTable("agents")
      .set({ invited_until: now + invitationMs })
      .where("id", "=", agentId)
      .execute();
    await recordChange(tx, { workspaceId, by, action: "invitation_added", subject: agent.email, now });
    return issue(tx, agent, now, mail);
  });
}

/** Removes the agent, who has not joined. */
export async function revokeInvitation(store: Store, clock: Clock, { workspaceId, agentId, by }: AgentOf) {
  await store.write(async (tx) => {
    const agent = await requireInvited(tx, workspaceId, agentId);
    const now = clock.now();
    await deleteAgent(tx, workspaceId, agentId, now);
    await recordChange(tx, { workspaceId, by, action: "invitation_revoked", subject: agent.email, now });
  });
}

/** The invited person and their workspace. Undefined: the link is unknown, used, replaced or expired. */
export async function readInvitation(db: Reader | Tx, token: string, now: number) {
  const row = await db
    .selectFrom("agent_tokens")
    .innerJoin("agents", "agents.id", "agent_tokens.agent_id")
    .innerJoin("workspaces", "workspaces.id", "agents.workspace_id")
    .select([
      "agents.id",
      "agents.email",
      "agents.name",
      "workspaces.name as workspace",
      "workspaces.id as workspaceId",
      "workspaces.settings",
    ])
    .where("agent_tokens.hash", "=", hash("sha256", token))
    .where("agent_tokens.kind", "=", "invitation")
    .where("agent_tokens.expires_at", ">", now)
    .where("agents.invited_until", ">", now)
    .where("workspaces.deleted_at", "is", null)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const { settings, ...invited } = row;
  return { ...invited, provider: storedSettings(settings).singleSignOn };
}

/**
 * Sets the password and signs in. Returns the session's token; undefined as {@link readInvitation}, or if agents sign in
 * through a provider only.
 */
export async function acceptInvitation(
  store: Store,
  clock: Clock,
  token: string,
  password: string,
  client: SessionClient,
): Promise<string | undefined> {
  requirePassword(password);
  const hashed = await hashPassword(password);
  return store.write(async (tx) => {
    const now = clock.now();
    const agent = await readInvitation(tx, token, now);
    if (agent === undefined || agent.provider?.required === true) return undefined;
    // A second acceptance at the same time finds no token.
    const { numDeletedRows } = await tx
      .deleteFrom("agent_tokens")
      .where("agent_id", "=", agent.id)
      .where("kind", "=", "invitation")
      .executeTakeFirst();
    if (numDeletedRows === 0n) return undefined;
    await tx.updateTable("agents").set({ password: hashed }).where("id", "=", agent.id).execute();
    await recordChange(tx, {
      workspaceId: agent.workspaceId,
      by: { type: "agent", id: agent.email, name: agent.name },
      action: "invitation_accepted",
      subject: agent.email,
      now,
    });
    return insertSession(tx, agent.id, client, "password", now);
  });
}

async function requireInvited(tx: Tx, workspaceId: string, agentId: string) {
  const agent = await requireAgent(tx, workspaceId, agentId);
  if (agent.invited_until === null) throw new Problem("invalid_transition", `${agent.name} has joined already.`);
  return agent;
}

async function issue(
  tx: Tx,
  { id, email }: { readonly id: string; readonly email: string },
  now: number,
  mail: InvitationMail | null,
): Promise<Invitation> {
  await tx.deleteFrom("agent_tokens").where("agent_id", "=", id).where("kind", "=", "invitation").execute();
  const [token = ""] = await insertTokens(tx, [id], "invitation", now, { lifeMs: invitationMs });
  if (mail !== null) {
    const text = mailText(email, invitationUrl(mail.publicUrl, token));
    const work = mailWork(mail.secrets, { to: email, subject: "Your invitation to Parley", text }, now, invitationMs);
    await insertWork(tx, [work], now);
  }
  return { agentId: id, email, token, expiresAt: now + invitationMs };
}

export const invitationUrl = (publicUrl: string, token: string): string => `${publicUrl}/inbox/invitation/${token}`;

const mailText = (email: string, url: string): string =>
  `You are invited to answer customers with Parley, as ${email}.

Choose a password and sign in here, within seven days:
${url}

If you did not expect this, do nothing.
`;
