import { hash } from "node:crypto";
import type { Clock } from "#runtime/clock.ts";
import type { Store } from "#database/contract.ts";
import { insertTokens } from "./agent-tokens.ts";

const loginLinkMs = 24 * 3_600_000;

/** A token that signs in once; only its hash is stored. */
export async function createLoginToken(
  store: Store,
  clock: Clock,
  agentId: string,
  lifeMs = loginLinkMs,
): Promise<string> {
  const [token = ""] = await store.write((tx) => insertTokens(tx, [agentId], "login_link", clock.now(), { lifeMs }));
  return token;
}

/** One token for each agent account of a person, of which one can be redeemed. */
export function createLoginChoices(
  store: Store,
  clock: Clock,
  agentIds: readonly string[],
  lifeMs: number,
): Promise<readonly string[]> {
  return store.write((tx) => insertTokens(tx, agentIds, "choice", clock.now(), { lifeMs }));
}

/** Uses up a link or choice, and returns its agent. Undefined when it is unknown, used or expired. */
export async function redeemLogin(
  store: Store,
  clock: Clock,
  token: string,
  kind: "login_link" | "choice",
): Promise<{ readonly id: string } | undefined> {
  const now = clock.now();
  return store.write(async (tx) => {
    const digest = hash("sha256", token);
    const result = await tx
      .updateTable("agent_tokens")
      .set({ used_at: now })
      .where("hash", "=", digest)
      .where("kind", "=", kind)
      .where("used_at", "is", null)
      .where("expires_at", ">", now)
      .executeTakeFirst();
    if (Number(result.numUpdatedRows) !== 1) return undefined;
    const redeemed = await tx
      .selectFrom("agent_tokens")
      .innerJoin("agents", "agents.id", "agent_tokens.agent_id")
      .select(["agents.id", "agents.email", "agent_tokens.expires_at", "agent_tokens.created_at"])
      .where("hash", "=", digest)
      .executeTakeFirst();
    if (redeemed === undefined) return undefined;
    if (kind === "choice") {
      // The other choices of the same attempt, which were made for this person at the same moment.
      await tx
        .deleteFrom("agent_tokens")
        .where("kind", "=", "choice")
        .where("hash", "!=", digest)
        .where("expires_at", "=", redeemed.expires_at)
        .where("created_at", "=", redeemed.created_at)
        .where("agent_id", "in", tx.selectFrom("agents").select("id").where("email", "=", redeemed.email))
        .execute();
    }
    return { id: redeemed.id };
  });
}
