import type { Action } from "#domain/workspace/automation.ts";
import { dialectOf } from "#database/dialects/dialect.ts";
import type { Tx } from "#database/contract.ts";

type Assign = Extract<Action, { kind: "assign" }>;

type Chosen = { readonly kind: "agent"; readonly email: string } | { readonly kind: "nobody"; readonly reason: string };

/**
 * Returns the agent that a rule assigns to: the named one, or the next in turn who is not away and has not reached the
 * limit of claimed conversations.
 */
export async function nextAgent(tx: Tx, workspaceId: string, rule: string, assign: Assign): Promise<Chosen> {
  const agents = await tx
    .selectFrom("agents")
    .select(["email", "away"])
    .where("workspace_id", "=", workspaceId)
    .where("role", "!=", "viewer")
    .where("invited_until", "is", null)
    .orderBy("email")
    .execute();
  const { to, among, maxClaimed } = assign;
  if (to !== null) {
    return agents.some(({ email }) => email === to)
      ? { kind: "agent", email: to }
      : { kind: "nobody", reason: `${to} is no agent of this workspace, or may only read` };
  }
  const candidates = agents.filter(({ email, away }) => away === 0 && (among.length === 0 || among.includes(email)));
  const claimed = maxClaimed === null ? new Map<string, number>() : await claimedBy(tx, workspaceId);
  const free = candidates.filter(({ email }) => maxClaimed === null || (claimed.get(email) ?? 0) < maxClaimed);
  if (free.length === 0) return { kind: "nobody", reason: "no agent is available" };
  const query = tx
    .selectFrom("rule_turns")
    .select("email")
    .where("workspace_id", "=", workspaceId)
    .where("rule", "=", rule);
  // The lock keeps two concurrent assignments from choosing the same agent.
  const last = await (dialectOf(tx) === "mysql" ? query.forUpdate() : query).executeTakeFirst();
  const next = free.find(({ email }) => last !== undefined && email > last.email) ?? free[0];
  if (next === undefined) return { kind: "nobody", reason: "no agent is available" };
  if (last === undefined) {
    const turn = tx.insertInto("rule_turns").values({ workspace_id: workspaceId, rule, email: next.email });
    await (
      dialectOf(tx) === "mysql"
        ? turn.onDuplicateKeyUpdate({ email: next.email })
        : turn.onConflict((conflict) => conflict.columns(["workspace_id", "rule"]).doUpdateSet({ email: next.email }))
    ).execute();
  } else {
    await tx
      .updateTable("rule_turns")
      .set({ email: next.email })
      .where("workspace_id", "=", workspaceId)
      .where("rule", "=", rule)
      .execute();
  }
  return { kind: "agent", email: next.email };
}

async function claimedBy(tx: Tx, workspaceId: string): Promise<ReadonlyMap<string, number>> {
  const rows = await tx
    .selectFrom("conversations")
    .select(["assigned_to", (eb) => eb.fn.countAll<number>().as("count")])
    .where("workspace_id", "=", workspaceId)
    .where("status", "=", "claimed")
    .groupBy("assigned_to")
    .execute();
  return new Map(rows.map(({ assigned_to, count }) => [assigned_to ?? "", count]));
}
