import type { Reader, Tx } from "#database/contract.ts";

/** The agent's public name, never the e-mail address. `otherwise`: the name where there is no such agent. */
export async function agentName(
  db: Reader | Tx,
  workspaceId: string,
  email: string,
  otherwise?: string,
): Promise<string> {
  const agent = await db
    .selectFrom("agents")
    .select("name")
    .where("workspace_id", "=", workspaceId)
    .where("email", "=", email.toLowerCase())
    .executeTakeFirst();
  if (agent !== undefined) return agent.name;
  if (otherwise !== undefined && otherwise.trim() !== "") return otherwise;
  const words = (email.split("@")[0] ?? "").split(/[._+-]/).filter((word) => word !== "");
  return words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join(" ");
}

/** Like {@link agentName}, for anyone who acted in this conversation, including people known only to a desk. */
export async function nameInConversation(
  db: Reader | Tx,
  { id, workspace_id }: { readonly id: string; readonly workspace_id: string },
  email: string,
): Promise<string> {
  const entry = await db
    .selectFrom("audit")
    .select("actor_name")
    .where("conversation_id", "=", id)
    .where("actor_type", "=", "agent")
    .where("actor_id", "=", email)
    .orderBy("id", "desc")
    .limit(1)
    .executeTakeFirst();
  return agentName(db, workspace_id, email, entry?.actor_name ?? undefined);
}

/** Addresses of the agents who may answer. */
export async function answeringAgents(db: Reader, workspaceId: string): Promise<ReadonlySet<string>> {
  const rows = await db
    .selectFrom("agents")
    .select("email")
    .where("workspace_id", "=", workspaceId)
    .where("role", "!=", "viewer")
    .where("invited_until", "is", null)
    .execute();
  return new Set(rows.map(({ email }) => email));
}

/** Ids of the agents' pictures, by address. */
export async function avatarsOf(
  db: Reader,
  workspaceId: string,
  emails: readonly string[],
): Promise<ReadonlyMap<string, string | null>> {
  if (emails.length === 0) return new Map();
  const rows = await db
    .selectFrom("agents")
    .select(["email", "avatar"])
    .where("workspace_id", "=", workspaceId)
    .where("email", "in", [...new Set(emails)])
    .execute();
  return new Map(rows.map(({ email, avatar }) => [email, avatar]));
}
