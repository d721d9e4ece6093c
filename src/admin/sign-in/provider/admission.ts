import { hash } from "node:crypto";
import type { Actor } from "#domain/conversation/message.ts";
import { systemActor } from "#domain/conversation/message.ts";
import { Problem } from "#domain/problem.ts";
import type { AgentRole } from "#domain/workspace/agent-role.ts";
import type { ProviderAccess, SingleSignOn } from "#domain/workspace/single-sign-on.ts";
import { accessOf, domainOf } from "#domain/workspace/single-sign-on.ts";
import type { Tx } from "#database/contract.ts";
import { lockWorkspace } from "#database/queries/workspaces.ts";
import { recordChange } from "#admin/audit.ts";
import { signInStepKinds } from "#admin/team/agent-tokens.ts";
import { endPasswordLinks, insertAgent } from "#admin/team/agents.ts";
import { requireOtherAdmin } from "#admin/team/roles.ts";
import type { SessionClient } from "#admin/team/sessions.ts";
import { endSessions, insertSession } from "#admin/team/sessions.ts";
import { listTeams, setTeamsOf } from "#admin/team/teams.ts";
import type { Person } from "./contract.ts";
import { providerOf } from "./agents-of-provider.ts";

/** Why a person whom the provider knows is not admitted. */
export type RefusalReason =
  | "provider_changed"
  | "no_email"
  | "unverified_email"
  | "domain"
  | "unknown_person"
  | "other_person"
  | "no_group";

/** `token`: of the session. `notes`: for the log. */
export type Admission =
  | { readonly refused: RefusalReason }
  | { readonly agentId: string; readonly token: string; readonly notes: readonly string[] };

interface Applicant {
  readonly workspaceId: string;
  /** The provider that vouches for the person. */
  readonly provider: SingleSignOn;
  readonly person: Person;
}

const author: Actor = systemActor("single sign-on");

/**
 * Finds or creates the agent, applies the groups and begins a session. A person is known by the provider's subject: a
 * changed e-mail address leads to the same agent, and an address that the provider gives to another person does not.
 */
export async function admit(tx: Tx, applicant: Applicant, client: SessionClient, now: number): Promise<Admission> {
  const { workspaceId, provider, person } = applicant;
  await lockWorkspace(tx, workspaceId);
  const current = (await providerOf(tx, workspaceId))?.provider;
  if (current?.issuer !== provider.issuer || current.clientId !== provider.clientId) {
    return { refused: "provider_changed" };
  }
  const access = accessOf(current, person.groups);
  const found = await findAgent(tx, applicant, current);
  if (typeof found === "string") return { refused: found };
  if (typeof found?.invited_until === "number" && found.invited_until <= now) return { refused: "unknown_person" };
  const notes: string[] = [];
  const agent = found ?? (await createOne(tx, applicant, current, access, now));
  if (typeof agent === "string") return { refused: agent };
  const isKept = await isLastAdmin(tx, workspaceId, agent);
  if (access.role === "refuse" && !isKept) {
    await turnAway(tx, workspaceId, agent, now);
    return { refused: "no_group" };
  }
  const role = access.role === "refuse" || access.role === "unset" ? agent.role : access.role;
  if (isKept && role !== "admin") notes.push("the last administrator keeps the role");
  if (isKept && access.role === "refuse") notes.push("the last administrator is in none of the groups");
  await setRole(tx, workspaceId, agent, isKept ? "admin" : role, now);
  const unknown = await setTeams(tx, workspaceId, agent, access, now);
  if (unknown.length > 0) notes.push(`groups: there is no team ${unknown.join(", ")}`);
  await linkAgent(tx, applicant, agent, now);
  return { agentId: agent.id, token: await insertSession(tx, agent.id, client, "provider", now), notes };
}

interface KnownAgent {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly role: AgentRole;
  readonly invited_until: number | null;
}

const agentColumns = ["agents.id", "agents.email", "agents.name", "agents.role", "agents.invited_until"] as const;

const subjectHash = (provider: SingleSignOn, person: Person): string =>
  hash("sha256", `${provider.issuer}\n${person.subject}`);

async function findAgent(
  tx: Tx,
  { workspaceId, person }: Applicant,
  provider: SingleSignOn,
): Promise<KnownAgent | RefusalReason | undefined> {
  const known = await tx
    .selectFrom("agent_identities")
    .innerJoin("agents", "agents.id", "agent_identities.agent_id")
    .select(agentColumns)
    .where("agent_identities.workspace_id", "=", workspaceId)
    .where("agent_identities.subject_hash", "=", subjectHash(provider, person))
    .executeTakeFirst();
  if (known !== undefined) return known;
  // From here on the e-mail address decides, once.
  if (person.email === null) return "no_email";
  const isOwnDomain = provider.domains.includes(domainOf(person.email));
  if (!person.isEmailVerified && !(provider.ownsDomains && isOwnDomain)) return "unverified_email";
  if (provider.domains.length > 0 && !isOwnDomain) return "domain";
  const byEmail = await tx
    .selectFrom("agents")
    .leftJoin("agent_identities", "agent_identities.agent_id", "agents.id")
    .select([...agentColumns, "agent_identities.issuer"])
    .where("agents.workspace_id", "=", workspaceId)
    .where("agents.email", "=", person.email)
    .executeTakeFirst();
  if (byEmail?.issuer === provider.issuer) return "other_person";
  return byEmail;
}

async function createOne(
  tx: Tx,
  { workspaceId, person }: Applicant,
  { createAgents, withoutGroup }: SingleSignOn,
  access: ProviderAccess,
  now: number,
): Promise<KnownAgent | RefusalReason> {
  const role = access.role === "unset" ? withoutGroup : access.role;
  if (!createAgents || person.email === null) return "unknown_person";
  if (role === "refuse") return "no_group";
  const { email } = person;
  const name = person.name ?? email.slice(0, email.indexOf("@"));
  const row = { workspaceId, email, name, role, password: null, invitedUntil: null };
  const agent = await insertAgent(tx, row, now);
  await recordChange(tx, { workspaceId, by: author, action: "agent_added", subject: agent.email, to: role, now });
  return { ...agent, invited_until: null };
}

async function isLastAdmin(tx: Tx, workspaceId: string, agent: KnownAgent): Promise<boolean> {
  if (agent.role !== "admin" || agent.invited_until !== null) return false;
  try {
    await requireOtherAdmin(tx, workspaceId, agent.id);
    return false;
  } catch (error) {
    if (error instanceof Problem && error.code === "last_admin") return true;
    throw error;
  }
}

/** Ends every access of the agent until the provider admits them again. */
async function turnAway(tx: Tx, workspaceId: string, agent: KnownAgent, now: number): Promise<void> {
  const refusal = tx.updateTable("agent_identities").set({ refused_at: now }).where("agent_id", "=", agent.id);
  const { numUpdatedRows } = await refusal.where("refused_at", "is", null).executeTakeFirst();
  // Never signed in through the provider, or turned away before.
  if (numUpdatedRows === 0n) return;
  if (agent.role === "admin") await endPasswordLinks(tx, workspaceId);
  const pages = tx.deleteFrom("agent_tokens").where("agent_id", "=", agent.id);
  await pages.where("kind", "in", signInStepKinds).execute();
  await tx.deleteFrom("access_tokens").where("agent_id", "=", agent.id).execute();
  await endSessions(tx, { workspaceId, agent, by: author, now });
}

async function setRole(tx: Tx, workspaceId: string, agent: KnownAgent, role: AgentRole, now: number): Promise<void> {
  if (role === agent.role) return;
  await tx.updateTable("agents").set({ role }).where("id", "=", agent.id).execute();
  // An agent of another role can neither see nor revoke them.
  if (role !== "admin") await tx.deleteFrom("access_tokens").where("agent_id", "=", agent.id).execute();
  if (agent.role === "admin") await endPasswordLinks(tx, workspaceId);
  const change = { workspaceId, by: author, action: "agent_changed", subject: agent.email } as const;
  await recordChange(tx, { ...change, from: agent.role, to: role, now });
}

/** Sets the teams that groups name, and leaves others alone. Returns the names that are no teams. */
async function setTeams(
  tx: Tx,
  workspaceId: string,
  agent: KnownAgent,
  { managedTeams, teams }: ProviderAccess,
  now: number,
): Promise<readonly string[]> {
  if (managedTeams.length === 0) return [];
  const all = await listTeams(tx, workspaceId);
  const isMember = ({ name, agentIds }: (typeof all)[number]): boolean =>
    managedTeams.includes(name) ? teams.includes(name) : agentIds.includes(agent.id);
  const ids = all.filter(isMember).map(({ id }) => id);
  const { before, after } = await setTeamsOf(tx, workspaceId, agent.id, ids, { byProvider: true });
  if (before !== after) {
    const change = { workspaceId, by: author, action: "agent_changed", subject: agent.email } as const;
    await recordChange(tx, { ...change, from: before, to: after, now });
  }
  return managedTeams.filter((name) => !all.some((team) => team.name === name));
}

/** Remembers the subject, and accepts an invitation. */
async function linkAgent(tx: Tx, { workspaceId, provider, person }: Applicant, agent: KnownAgent, now: number) {
  const subject = subjectHash(provider, person);
  const known = await tx
    .selectFrom("agent_identities")
    .select("agent_id")
    .where("agent_id", "=", agent.id)
    .where("subject_hash", "=", subject)
    .executeTakeFirst();
  await tx.updateTable("agent_identities").set({ refused_at: null }).where("agent_id", "=", agent.id).execute();
  const by = { type: "agent", id: agent.email, name: agent.name } as const;
  if (known === undefined) {
    await tx.deleteFrom("agent_identities").where("agent_id", "=", agent.id).execute();
    const row = { agent_id: agent.id, workspace_id: workspaceId, issuer: provider.issuer, subject_hash: subject };
    await tx
      .insertInto("agent_identities")
      .values({ ...row, refused_at: null, created_at: now })
      .execute();
    const to = provider.issuer;
    await recordChange(tx, {
      workspaceId,
      by,
      action: "sign_in_added",
      subject: `provider of ${agent.email}`,
      to,
      now,
    });
  }
  if (agent.invited_until === null) return;
  await tx.deleteFrom("agent_tokens").where("agent_id", "=", agent.id).where("kind", "=", "invitation").execute();
  await recordChange(tx, { workspaceId, by, action: "invitation_accepted", subject: agent.email, now });
}
