import type { RuleEvent } from "#domain/workspace/automation.ts";
import type { ConversationRow } from "#database/queries/conversations.ts";
import { agentHasWritten } from "#database/queries/messages.ts";
import type { RuleFiringsTable } from "#database/schema/automation.ts";
import type { Tx } from "#database/contract.ts";
import type { WorkspaceSettings } from "#domain/workspace/settings.ts";
import type { Draft } from "#conversations/transaction/draft.ts";

/** A conversation that this transaction changes, as seen by rules. */
export interface RuleSubject extends Draft {
  readonly row: ConversationRow;
  readonly before: ConversationRow;
  readonly settings: WorkspaceSettings;
  readonly isNew: boolean;
  /** Changes in this transaction that rules did not make. */
  readonly ruleEvents: readonly RuleEvent[];
  /** A customer, an agent or an API client made some of the changes. */
  readonly byPerson: boolean;
  readonly tagsAdded: ReadonlySet<string>;
  readonly tagsRemoved: ReadonlySet<string>;
  /** Queues a reply to the customer. `answers`: `seq` of the customer's messages that it answers. */
  queueRuleReply(text: string, rule: string, answers: readonly number[]): void;
}

export interface RuleFacts {
  readonly tags: ReadonlyMap<string, ReadonlySet<string>>;
  readonly plans: ReadonlyMap<string, string>;
  /** Conversations whose newest reply is an agent's. */
  readonly answered: ReadonlySet<string>;
  firings(conversationId: string): Promise<Map<string, RuleFiringsTable>>;
}

export async function loadRuleFacts(tx: Tx, subjects: readonly RuleSubject[]): Promise<RuleFacts> {
  const stored = subjects.filter(({ isNew }) => !isNew).map(({ row }) => row.id);
  const tagRows =
    stored.length === 0
      ? []
      : await tx
          .selectFrom("conversation_tags")
          .select(["conversation_id", "tag"])
          .where("conversation_id", "in", stored)
          .execute();
  const tags = new Map(
    subjects.map(({ row, tagsAdded, tagsRemoved }) => {
      const held = tagRows.filter((each) => each.conversation_id === row.id).map(({ tag }) => tag);
      return [row.id, new Set([...held, ...tagsAdded].filter((tag) => !tagsRemoved.has(tag)))] as const;
    }),
  );
  const asksForPlan = subjects.some(({ settings }) =>
    settings.rules.some(({ conditions }) => conditions.plans !== undefined),
  );
  const contacts = !asksForPlan
    ? []
    : await tx
        .selectFrom("contacts")
        .select(["id", "attributes", "user_id"])
        .where("id", "in", [...new Set(subjects.map(({ row }) => row.contact_id))])
        .execute();
  const plans = new Map(contacts.flatMap(({ id, attributes, user_id }) => planOf(id, attributes, user_id)));
  const firings = new Map<string, Map<string, RuleFiringsTable>>();
  return {
    tags,
    plans,
    answered: await answeredByAgents(tx, subjects),
    async firings(conversationId) {
      const held = firings.get(conversationId);
      if (held !== undefined) return held;
      const rows = await tx
        .selectFrom("rule_firings")
        .selectAll()
        .where("conversation_id", "=", conversationId)
        .execute();
      const read = new Map(rows.map((row) => [row.rule, row]));
      firings.set(conversationId, read);
      return read;
    },
  };
}

async function answeredByAgents(tx: Tx, subjects: readonly RuleSubject[]): Promise<ReadonlySet<string>> {
  const answered = new Set<string>();
  for (const { row, settings, isNew, ruleEvents } of subjects) {
    if (!settings.rules.some(({ conditions }) => conditions.unanswered !== undefined)) continue;
    const now = ruleEvents.findLast(({ kind }) => kind === "message");
    if (now?.kind === "message" && now.by !== "assistant") {
      if (now.by === "agent") answered.add(row.id);
      continue;
    }
    if (isNew) continue;
    if (await agentHasWritten(tx, row.id, row.last_customer_seq)) answered.add(row.id);
  }
  return answered;
}

/** Returns the plan if the customer's identity is verified. */
function planOf(id: string, attributes: string, userId: string | null): (readonly [string, string])[] {
  const { plan } = JSON.parse(attributes) as { readonly plan?: unknown };
  return userId !== null && typeof plan === "string" ? [[id, plan.trim().toLowerCase()]] : [];
}

/** Messages of the bot are no answer while agents have the conversation. */
export function isUnanswered(row: ConversationRow, { answered }: RuleFacts): boolean {
  if (row.last_customer_seq === 0 || answered.has(row.id)) return false;
  return row.status !== "open" || row.last_seq === row.last_customer_seq;
}
