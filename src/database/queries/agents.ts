import type { Reader, Tx } from "#database/contract.ts";

/** The name of an agent that customers see; never the address. `otherwise`: what somebody who is none is called. */
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

/** The same of somebody who has done something in this conversation, perhaps from a desk that knows them by a name. */
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
