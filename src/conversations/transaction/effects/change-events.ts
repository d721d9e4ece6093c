import type { ChangedPart } from "#domain/event-types.ts";
import type { Actor, ActorType } from "#domain/conversation/message.ts";
import { systemActor } from "#domain/conversation/message.ts";
import { slaDueAt, slaState } from "#domain/conversation/sla.ts";
import type { Tx } from "#database/contract.ts";
import type { AuditTable } from "#database/schema/tables.ts";
import type { ConversationDraft } from "#conversations/transaction/conversation-draft.ts";
import type { PendingWrites } from "#conversations/transaction/pending-writes.ts";
import { slaClock } from "#database/queries/conversations.ts";

/** The newest targets are remembered, as many as the column holds. */
const noticesMax = 20;

/**
 * Emits the SLA's event when the state has changed for the worse, once per target of an SLA clock. A clock that is
 * noticed only after its end is not at risk any more. Called before and after the rules, which may change the priority.
 */
export function emitSla({ row, before, settings, isNew, emit }: ConversationDraft, now: number): void {
  const clock = slaClock(row);
  const targetMinutes = settings.slaTargets[row.priority];
  const state = slaState(clock, targetMinutes, now);
  if (isNew || state === "in_compliance" || state === before.sla_state) return;
  const notice = `${state}:${targetMinutes}`;
  const notices = row.sla_notices?.split(" ") ?? [];
  if (notices.includes(notice)) return;
  row.sla_notices = [...notices, notice].slice(-noticesMax).join(" ");
  emit(`sla.${state}`, systemActor("sla"), { sla: { targetMinutes, dueAt: slaDueAt(clock, targetMinutes) } });
}

/** Emits what the transaction has changed of existing conversations: their customer, priority and tags. */
export async function emitUpdates(
  tx: Tx,
  { audits, tags }: PendingWrites,
  changed: readonly ConversationDraft[],
): Promise<void> {
  const stored = changed.filter(({ isNew }) => !isNew);
  const moved = stored.filter(({ row, before }) => row.contact_id !== before.contact_id);
  const merges = await mergesOf(
    tx,
    moved.map(({ before }) => before.contact_id),
  );
  for (const draft of stored) {
    const { row, before } = draft;
    const found = merges.get(before.contact_id);
    // Other moves, such as the undo of a merge, only change the customer.
    const merge = found?.rootId === row.contact_id && moved.includes(draft) ? found : undefined;
    if (merge !== undefined) {
      draft.emit("conversation.merged", merge.actor, { merge: { source: before.contact_id, target: row.contact_id } });
    }
    const parts: readonly ChangedPart[] = [
      ...(isOtherCustomer(draft) ? ["customer" as const] : []),
      ...(row.priority === before.priority ? [] : ["priority" as const]),
      ...(tags.changes(row.id) ? ["tags" as const] : []),
    ];
    if (parts.length === 0) continue;
    const author = authorOf(audits, row.id) ?? merge?.actor ?? draft.customerAuthor ?? systemActor("contacts");
    draft.emit("conversation.updated", author, { changed: parts });
  }
}

/** Written out because loops over field names are slow here. */
const isOtherCustomer = ({ row, before }: ConversationDraft): boolean =>
  row.contact_id !== before.contact_id ||
  row.customer_name !== before.customer_name ||
  row.customer_email !== before.customer_email ||
  row.customer_phone !== before.customer_phone;

const recorded: ReadonlySet<string> = new Set(["priority_changed", "tagged", "untagged"]);

/** The author of the first change of priority or tags. */
function authorOf(audits: readonly AuditTable[], conversationId: string): Actor | undefined {
  const entry = audits.find((each) => each.conversation_id === conversationId && recorded.has(each.action));
  return entry === undefined ? undefined : actorOf(entry);
}

const actorOf = (row: Pick<AuditTable, "actor_type" | "actor_id" | "actor_name">): Actor => ({
  type: row.actor_type as ActorType,
  id: row.actor_id,
  name: row.actor_name,
});

interface FoundMerge {
  readonly rootId: string;
  readonly actor: Actor;
}

/** The merges of these contacts that were not undone, by contact. */
async function mergesOf(tx: Tx, contactIds: readonly string[]): Promise<ReadonlyMap<string, FoundMerge>> {
  if (contactIds.length === 0) return new Map();
  const rows = await tx
    .selectFrom("contacts")
    .innerJoin("contact_merges as merge", "merge.from_contact_id", "contacts.id")
    .select(["contacts.id", "contacts.root_id", "merge.actor_type", "merge.actor_id"])
    .where("contacts.id", "in", [...new Set(contactIds)])
    .where("merge.undone_at", "is", null)
    .orderBy("merge.id")
    .execute();
  return new Map(rows.map((row) => [row.id, { rootId: row.root_id, actor: actorOf({ ...row, actor_name: null }) }]));
}
