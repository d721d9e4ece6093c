import type { RuleEvent } from "#domain/workspace/automation.ts";
import type { ConversationRow } from "#database/queries/conversations.ts";
import { dialectOf } from "#database/dialects/dialect.ts";
import type { Tx } from "#database/contract.ts";

interface Filed {
  readonly row: ConversationRow;
  readonly before: ConversationRow;
  readonly isNew: boolean;
}

interface TagChange {
  readonly draft: Filed & { readonly ruleEvents: RuleEvent[] };
  readonly tag: string;
  readonly kind: "tagged" | "untagged";
  /** Id of the audit log entry. */
  readonly entry: string;
  /** The event that rules see; undefined for changes by rules. */
  readonly ruleEvent: RuleEvent | undefined;
}

/** Collects the tags that a transaction adds and removes, in order. */
export interface TagEffects {
  add(change: TagChange): void;
  /** Drops changes without effect, such as adding an existing tag, from the rules' events and the audit log. */
  passOver(tx: Tx, audits: { readonly id: string }[]): Promise<void>;
  /** Whether the tags of the conversation will differ from those stored. Called after {@link passOver}. */
  changes(conversationId: string): boolean;
  /** Writes the tag rows for the changed conversations. */
  write(tx: Tx, changed: readonly Filed[]): Promise<void>;
}

export function createTagEffects(): TagEffects {
  const changes: TagChange[] = [];
  const ineffective = new Set<TagChange>();

  return {
    add: (change) => changes.push(change),
    async passOver(tx, audits) {
      if (changes.length === 0) return;
      const held = await heldTags(tx, changes);
      for (const change of changes) {
        const { draft, tag, kind, entry, ruleEvent } = change;
        const key = keyOf(draft.row.id, tag);
        const changesNothing = held.has(key) === (kind === "tagged");
        if (kind === "tagged") held.add(key);
        else held.delete(key);
        if (!changesNothing) continue;
        ineffective.add(change);
        without(audits, ({ id }) => id === entry);
        without(draft.ruleEvents, (each) => each === ruleEvent);
      }
    },
    changes(conversationId) {
      const toggled = new Set<string>();
      for (const change of changes) {
        // Effective changes of one tag alternate, so the second takes the first back.
        if (change.draft.row.id !== conversationId || ineffective.has(change) || toggled.delete(change.tag)) continue;
        toggled.add(change.tag);
      }
      return toggled.size > 0;
    },
    async write(tx, changed) {
      // The last change of a tag wins, so that a rule can remove a tag that was added with its trigger.
      const last = new Map(changes.map((change) => [keyOf(change.draft.row.id, change.tag), change]));
      const removed = last.values().filter(({ kind }) => kind === "untagged");
      for (const { draft, tag } of removed) {
        await tx
          .deleteFrom("conversation_tags")
          .where("conversation_id", "=", draft.row.id)
          .where("tag", "=", tag)
          .execute();
      }
      for (const { row, before, isNew } of changed) {
        // Tag rows hold copies of the values that lists filter by.
        if (isNew || (row.status === before.status && row.sla_state === before.sla_state)) continue;
        await tx
          .updateTable("conversation_tags")
          .set({ status: row.status, sla_state: row.sla_state })
          .where("conversation_id", "=", row.id)
          .execute();
      }
      for (const { draft, tag, kind } of last.values()) if (kind === "tagged") await insertTag(tx, draft.row, tag);
    },
  };
}

function without<T>(all: T[], isGone: (each: T) => boolean): void {
  const at = all.findIndex(isGone);
  if (at !== -1) all.splice(at, 1);
}

const keyOf = (conversationId: string, tag: string): string => `${conversationId}\n${tag}`;

async function heldTags(tx: Tx, changes: readonly TagChange[]): Promise<Set<string>> {
  const stored = changes.filter(({ draft }) => !draft.isNew);
  if (stored.length === 0) return new Set();
  const rows = await tx
    .selectFrom("conversation_tags")
    .select(["conversation_id", "tag"])
    .where("conversation_id", "in", [...new Set(stored.map(({ draft }) => draft.row.id))])
    .execute();
  return new Set(rows.map(({ conversation_id, tag }) => keyOf(conversation_id, tag)));
}

async function insertTag(tx: Tx, row: ConversationRow, tag: string): Promise<void> {
  const insert = tx.insertInto("conversation_tags").values({
    workspace_id: row.workspace_id,
    tag,
    conversation_id: row.id,
    started_at: row.started_at,
    channel: row.channel,
    status: row.status,
    sla_state: row.sla_state,
  });
  // An existing tag stays.
  await (dialectOf(tx) === "mysql" ? insert.ignore() : insert.onConflict((conflict) => conflict.doNothing())).execute();
}
