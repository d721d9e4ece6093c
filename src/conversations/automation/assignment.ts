import type { Action } from "#domain/workspace/automation.ts";
import { dialectOf } from "#database/dialects/dialect.ts";
import type { Tx } from "#database/contract.ts";

type Assign = Extract<Action, { kind: "assign" }>;

type Chosen = { readonly kind: "agent"; readonly email: string } | { readonly kind: "nobody"; readonly reason: string };

/**
 * The agent that a rule assigns to: the one it names, or in turn the next of those who are available, that is, who are
 * not away and have claimed fewer than they may.
 */
export async function nextAgent(tx: Tx, workspaceId: string, rule: string, assign: Assign): Promise<Chosen> {
  const agents = await tx
    .selectFrom("agents")
    .select(["email", "away"])
    .where("workspace_id", "=", workspaceId)
    .orderBy("email")
    .execute();
  const { to, among, maxClaimed } = assign;
  if (to !== null) {
    return agents.some(({ email }) => email === to)
      ? { kind: "agent", email: to }
      : { kind: "nobody", reason: `${to} is no agent of this workspace` };
  }
  const wanted = agents.filter(({ email, away }) => away === 0 && (among.length === 0 || among.includes(email)));
  const claimed = maxClaimed === null ? new Map<string, number>() : await claimedBy(tx, workspaceId);
  const free = wanted.filter(({ email }) => maxClaimed === null || (claimed.get(email) ?? 0) < maxClaimed);
  if (free.length === 0) return { kind: "nobody", reason: "no agent is available" };
  const query = tx
    .selectFrom("rule_turns")
    .select("email")
    .where("workspace_id", "=", workspaceId)
    .where("rule", "=", rule);
  // Two conversations at the same time are not to be the same agent's.
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
