import { storedSettings } from "#domain/workspace/settings.ts";
import type { SingleSignOn } from "#domain/workspace/single-sign-on.ts";
import type { Reader, Tx } from "#database/contract.ts";
import { insertWork } from "#database/queries/outbox.ts";
import { signInStepKinds } from "#admin/team/agent-tokens.ts";
import { signOutWork } from "#conversations/agents/sign-out.ts";

/** Whether only the provider admits an agent: it is required, or does not admit the agent any more. */
export interface ProviderOnly {
  readonly workspaceId: string;
  readonly label: string;
}

/** Undefined: the agent may sign in with a password. */
export async function providerOnly(db: Reader | Tx, agentId: string): Promise<ProviderOnly | undefined> {
  const row = await db
    .selectFrom("agents")
    .innerJoin("workspaces", "workspaces.id", "agents.workspace_id")
    .leftJoin("agent_identities", "agent_identities.agent_id", "agents.id")
    .select(["workspaces.id", "workspaces.settings", "agent_identities.refused_at"])
    .where("agents.id", "=", agentId)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const provider = storedSettings(row.settings).singleSignOn;
  if (provider === null || !(provider.required || row.refused_at !== null)) return undefined;
  return { workspaceId: row.id, label: provider.label };
}

/**
 * Ends the sessions that began with a password, unfinished sign-ins and password resets. Sign-in links stay, because only
 * the operator makes them.
 */
export async function endPasswordSessions(tx: Tx, workspaceId: string, now: number): Promise<void> {
  const rows = await tx
    .selectFrom("agent_tokens")
    .innerJoin("agents", "agents.id", "agent_tokens.agent_id")
    .select(["agent_tokens.hash", "agent_tokens.agent_id"])
    .where("agents.workspace_id", "=", workspaceId)
    .where((eb) =>
      eb.or([
        eb("agent_tokens.kind", "in", signInStepKinds),
        // Sessions of earlier versions have no method.
        eb.and([
          eb("agent_tokens.kind", "=", "session"),
          eb.or([eb("agent_tokens.method", "=", "password"), eb("agent_tokens.method", "is", null)]),
        ]),
      ]),
    )
    .execute();
  if (rows.length === 0) return;
  for (const { hash } of rows) await tx.deleteFrom("agent_tokens").where("hash", "=", hash).execute();
  const ids = new Set(rows.map(({ agent_id }) => agent_id));
  await insertWork(
    tx,
    [...ids].map((id) => signOutWork(id, now)),
    now,
  );
}

export interface ListedProvider {
  readonly workspaceId: string;
  readonly label: string;
  readonly domains: readonly string[];
}

const listedMax = 500;

/** The providers of all workspaces, by the age of the workspace. */
export async function listProviders(db: Reader): Promise<readonly ListedProvider[]> {
  const rows = await db
    .selectFrom("workspaces")
    .select(["id", "settings"])
    .where("deleted_at", "is", null)
    // Most workspaces have none, and their settings need not be parsed.
    .where("settings", "like", '%"singleSignOn":{%')
    .orderBy("created_at")
    .limit(listedMax)
    .execute();
  return rows.flatMap(({ id, settings }) => {
    const provider = storedSettings(settings).singleSignOn;
    return provider === null ? [] : [{ workspaceId: id, label: provider.label, domains: provider.domains }];
  });
}

export interface WorkspaceProvider {
  readonly workspace: string;
  readonly provider: SingleSignOn;
}

/** Undefined: the workspace or its provider does not exist. */
export async function providerOf(db: Reader | Tx, workspaceId: string): Promise<WorkspaceProvider | undefined> {
  const row = await db
    .selectFrom("workspaces")
    .select(["name", "settings"])
    .where("id", "=", workspaceId)
    .where("deleted_at", "is", null)
    .executeTakeFirst();
  const provider = row === undefined ? null : storedSettings(row.settings).singleSignOn;
  return row === undefined || provider === null ? undefined : { workspace: row.name, provider };
}
