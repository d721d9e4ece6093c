import { hash, randomBytes } from "node:crypto";
import type { Tx } from "#database/contract.ts";
import type { SignInMethod } from "#database/schema/sign-in.ts";
import type { AgentTokensTable } from "#database/schema/tables.ts";

/** Links that set a password: a mailed one in all workspaces of the address, an administrator's in theirs alone. */
export const passwordLinkKinds = ["password_reset", "password_link"] as const;

/** Parts of a sign-in by password. A new password ends them. */
export const signInStepKinds = ["choice", "code_page", ...passwordLinkKinds] as const;

interface TokenDetails {
  readonly lifeMs: number;
  readonly userAgent?: string | null;
  readonly network?: string;
  readonly method?: SignInMethod;
}

/** Stores the hashes of new tokens, one for each agent. Returns the tokens. */
export async function insertTokens(
  tx: Tx,
  agentIds: readonly string[],
  kind: AgentTokensTable["kind"],
  now: number,
  { lifeMs, userAgent = null, network, method }: TokenDetails,
): Promise<readonly string[]> {
  const tokens = agentIds.map((agentId) => ({ agentId, token: randomBytes(32).toString("base64url") }));
  await tx
    .insertInto("agent_tokens")
    .values(
      tokens.map(({ agentId, token }) => ({
        hash: hash("sha256", token),
        agent_id: agentId,
        kind,
        expires_at: now + lifeMs,
        used_at: null,
        created_at: now,
        user_agent: userAgent,
        network: network ?? null,
        method: method ?? null,
        last_seen_at: kind === "session" ? now : null,
      })),
    )
    .execute();
  return tokens.map(({ token }) => token);
}
