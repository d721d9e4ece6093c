import type { Happening } from "#domain/workspace/automation.ts";
import type { ConversationRow } from "#database/queries/conversations.ts";
import { dialectOf } from "#database/dialects/dialect.ts";
import type { Tx } from "#database/contract.ts";

interface Filed {
  readonly row: ConversationRow;
  readonly before: ConversationRow;
  readonly isNew: boolean;
}

interface TagChange {
  readonly draft: Filed & { readonly happenings: Happening[] };
  readonly tag: string;
  readonly kind: "tagged" | "untagged";
  /** Its entry in the audit log. */
  readonly entry: string;
  /** What rules see of it; undefined where they do not. */
  readonly happening: Happening | undefined;
}

/** Tags that a transaction puts on conversations and takes off, in the order in which it does. */
export interface TagEffects {
  add(change: TagChange): void;
  /** What changes nothing, as the tag is there already or is not there, is told neither to rules nor in the audit log. */
  passOver(tx: Tx, audits: { readonly id: string }[]): Promise<void>;
  /** Brings the rows of tags to where the conversations now stand. */
  write(tx: Tx, changed: readonly Filed[]): Promise<void>;
}

export function createTagEffects(): TagEffects {
  const changes: TagChange[] = [];

  return {
    add: (change) => changes.push(change),
    async passOver(tx, audits) {
      if (changes.length === 0) return;
      const held = await heldTags(tx, changes);
      for (const { draft, tag, kind, entry, happening } of changes) {
        const key = keyOf(draft.row.id, tag);
        const changesNothing = held.has(key) === (kind === "tagged");
        if (kind === "tagged") held.add(key);
        else held.delete(key);
        if (!changesNothing) continue;
        without(audits, ({ id }) => id === entry);
        without(draft.happenings, (each) => each === happening);
      }
    },
    async write(tx, changed) {
      // What was done last holds: a rule takes off what came with what set it off.
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
        // The tag rows carry what lists filter by.
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
  // A tag that is there already stays.
  await (dialectOf(tx) === "mysql" ? insert.ignore() : insert.onConflict((conflict) => conflict.doNothing())).execute();
}
