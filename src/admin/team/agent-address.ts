import { Problem } from "#domain/problem.ts";
import type { Actor } from "#domain/conversation/message.ts";
import type { WorkspaceSettings } from "#domain/workspace/settings.ts";
import { handOnWork } from "#conversations/agents/hand-on.ts";
import { signOutWork } from "#conversations/agents/sign-out.ts";
import { isDuplicate } from "#database/duplicate-key.ts";
import { insertWork } from "#database/queries/outbox.ts";
import { settingsIn } from "#database/queries/workspaces.ts";
import type { Reader, Tx } from "#database/contract.ts";
import { passwordLinkKinds } from "./agent-tokens.ts";
import { joinExpectedTeams } from "./teams.ts";

const emailPattern = /^[^\s@]{1,64}@[^\s@]{1,120}$/;

/** The address as it is stored. Throws Problem when it is none. */
export function usableAddress(given: string): string {
  const email = given.trim().toLowerCase();
  if (!emailPattern.test(email)) throw new Problem("invalid_parameter", `email: "${given}" is not an e-mail address`);
  return email;
}

/**
 * Gives an agent another e-mail address, to sign in with and to be assigned to. Their conversations follow by a worker,
 * soon after. Earlier messages, audit entries and reports keep the old address. Links that were sent to it end.
 */
export async function changeAddress(
  tx: Tx,
  { workspaceId, agentId, by }: { readonly workspaceId: string; readonly agentId: string; readonly by: Actor },
  agent: { readonly email: string; readonly invited_until: number | null },
  /** Checked by {@link usableAddress}. */
  email: string,
  now: number,
): Promise<void> {
  if (agent.invited_until !== null) {
    throw new Problem("invalid_parameter", "email: revoke the invitation, and invite the other address.");
  }
  const user = userOf(await settingsIn(tx, workspaceId), agent.email);
  if (user !== undefined) {
    throw new Problem("invalid_parameter", `email: ${user} assigns conversations to ${agent.email}. Change it first.`);
  }
  try {
    await tx.updateTable("agents").set({ email }).where("id", "=", agentId).execute();
  } catch (error) {
    if (isDuplicate(error))
      throw new Problem("already_exists", `email: ${email} is an agent of this workspace already.`, { cause: error });
    throw error;
  }
  await tx
    .deleteFrom("agent_tokens")
    .where("agent_id", "=", agentId)
    .where("kind", "in", ["login_link", ...passwordLinkKinds])
    .execute();
  await joinExpectedTeams(tx, workspaceId, { id: agentId, email });
  const moved = { workspaceId, from: agent.email, to: email, agentId, by };
  // The live connections are made again with the new address.
  await insertWork(tx, [handOnWork(moved, now), signOutWork(agentId, now)], now);
}

/** The rule or macro that assigns to the address. */
function userOf({ rules, macros }: WorkspaceSettings, email: string): string | undefined {
  const assigns = (action: { readonly kind: string; readonly to?: string | null }): boolean =>
    action.kind === "assign" && action.to === email;
  const rule = rules.find(({ actions }) => actions.some(assigns));
  if (rule !== undefined) return `the rule “${rule.name}”`;
  const macro = macros.find(({ actions }) => actions.some(assigns));
  return macro === undefined ? undefined : `the macro “${macro.name}”`;
}

/** The number of conversations that an agent has, snoozed ones included. */
export async function heldConversations(db: Tx | Reader, workspaceId: string, email: string): Promise<number> {
  const { held } = await db
    .selectFrom("conversations")
    .select((eb) => eb.fn.countAll<number>().as("held"))
    .where("workspace_id", "=", workspaceId)
    .where("status", "in", ["claimed", "snoozed"])
    .where("assigned_to", "=", email)
    .executeTakeFirstOrThrow();
  return held;
}
