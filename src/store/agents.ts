import type { Reader, Tx } from "#engine/ports.ts";

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
