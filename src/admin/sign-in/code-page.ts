import { hash } from "node:crypto";
import type { Clock } from "#runtime/clock.ts";
import type { Store } from "#database/contract.ts";
import { insertTokens } from "#admin/team/agent-tokens.ts";
import type { SecondFactorDependencies } from "./second-factor.ts";
import { acceptCode } from "./second-factor.ts";

const codePageMs = 10 * 60_000;

/** A token for the page that asks for the second factor. It stands for the correct password. */
export async function createCodeToken(store: Store, clock: Clock, agentId: string): Promise<string> {
  const details = { lifeMs: codePageMs };
  const [token = ""] = await store.write((tx) => insertTokens(tx, [agentId], "code_page", clock.now(), details));
  return token;
}

/**
 * Uses up the page's token and the code. `count` counts the attempt before the code is checked, and throws when there
 * were too many.
 */
export async function redeemCode(
  { store, clock, secrets }: SecondFactorDependencies,
  token: string,
  code: string,
  count: (agentId: string) => Promise<{ succeeded(): Promise<void> }>,
): Promise<{ readonly agentId: string } | "expired" | "wrong"> {
  const digest = hash("sha256", token);
  const page = await store.read
    .selectFrom("agent_tokens")
    .select("agent_id")
    .where("hash", "=", digest)
    .where("kind", "=", "code_page")
    .where("expires_at", ">", clock.now())
    .executeTakeFirst();
  if (page === undefined) return "expired";
  const agentId = page.agent_id;
  const attempt = await count(agentId);
  const result = await store.write(async (tx) => {
    if (!(await acceptCode(tx, secrets, agentId, code, clock.now()))) return "wrong";
    const { numDeletedRows } = await tx.deleteFrom("agent_tokens").where("hash", "=", digest).executeTakeFirst();
    return numDeletedRows === 1n ? { agentId } : "expired";
  });
  if (typeof result === "object") await attempt.succeeded();
  return result;
}
