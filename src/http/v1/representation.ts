import type { Selectable } from "kysely";
import type { WorkspaceSettings } from "#domain/workspace/settings.ts";
import { storedSettings } from "#domain/workspace/settings.ts";
import type { Store } from "#database/contract.ts";
import type { Note } from "#conversations/transaction/note.ts";
import { attachmentsOf } from "#conversations/attachments/attachments.ts";
import { reactionsOf } from "#conversations/references/stored-reactions.ts";
import {
  conversationItem,
  documentItem,
  messageItem,
  noteItem,
  timestamp,
} from "#conversations/transaction/representation.ts";
import type { ConversationRow } from "#database/queries/conversations.ts";
import { prepareRead } from "#database/dialects/prepared.ts";
import type { AuditTable, MessagesTable } from "#database/schema/tables.ts";
import type { DocumentsTable } from "#database/schema/knowledge.ts";
import type { Caller } from "#http/v1/access/auth.ts";
import { conversationNotFound } from "./not-found.ts";

export type MessageRow = Selectable<MessagesTable>;
export type DocumentRow = Selectable<DocumentsTable>;

/** Turns rows of the database into the JSON of the API. */
export interface Representation {
  conversationItems(caller: Caller, rows: readonly ConversationRow[]): Promise<object[]>;
  /** The conversation with messages, notes and audit log. Throws Problem conversation_not_found. */
  conversation(caller: Caller, id: string): Promise<object>;
  /** Messages with their attachments. */
  messages(rows: readonly MessageRow[]): Promise<object[]>;
  document(row: DocumentRow): object;
  note(note: Note): object;
}

export function createRepresentation(
  store: Pick<Store, "read" | "select">,
  now: () => number,
  link: (fileId: string) => string,
): Representation {
  return {
    async conversationItems(caller, rows) {
      const tags = await tagsOf(rows.map(({ id }) => id));
      const settings = callerSettings(caller);
      return rows.map((row) => conversationItem(row, tags.get(row.id) ?? [], settings, now()));
    },

    async conversation(caller, id) {
      const [row] = await conversationRows(store, { id, workspaceId: caller.workspaceId });
      if (row === undefined) throw conversationNotFound();
      const [tags, messages, notes, audit] = await Promise.all([
        tagsOf([id]),
        messageRows(store, { id }),
        noteRows(store, { id }),
        auditRows(store, { id }),
      ]);
      const closed = row.status === "resolved" || row.status === "archived";
      return {
        ...conversationItem(row, tags.get(id) ?? [], callerSettings(caller), now()),
        ...(closed && row.resolved_at !== null ? { resolved_at: timestamp(row.resolved_at) } : {}),
        ...(row.status === "snoozed"
          ? { snoozed_until: row.snoozed_until === null ? null : timestamp(row.snoozed_until) }
          : {}),
        messages: await messageItems(messages),
        internal_notes: notes.map((each) =>
          noteItem({ ...each, conversationId: each.conversation_id, createdAt: each.created_at }),
        ),
        audit_log: audit.map(auditEntry),
      };
    },

    messages: messageItems,
    document: documentItem,
    note: noteItem,
  };

  async function messageItems(rows: readonly MessageRow[]): Promise<object[]> {
    const files = await attachmentsOf(store.read, rows);
    const reactions = await reactionsOf(store.read, rows);
    return rows.map((row) =>
      messageItem(row, { attachments: files.get(row.id), reactions: reactions.get(row.id), link }),
    );
  }

  async function tagsOf(ids: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>> {
    const byId = new Map<string, string[]>();
    if (ids.length === 0) return byId;
    const rows = await tagRows(store, Object.fromEntries(ids.entries()), String(ids.length));
    for (const { conversation_id, tag } of rows) byId.set(conversation_id, [...(byId.get(conversation_id) ?? []), tag]);
    return byId;
  }
}

interface ConversationKey extends Readonly<Record<string, string>> {
  readonly id: string;
}

const conversationRows = prepareRead((db, { id, workspaceId }: ConversationKey & { readonly workspaceId: string }) =>
  db.selectFrom("conversations").selectAll().where("id", "=", id).where("workspace_id", "=", workspaceId),
);
const messageRows = prepareRead((db, { id }: ConversationKey) =>
  db.selectFrom("messages").selectAll().where("conversation_id", "=", id).orderBy("seq"),
);
const noteRows = prepareRead((db, { id }: ConversationKey) =>
  db.selectFrom("notes").selectAll().where("conversation_id", "=", id).orderBy("id"),
);
const auditRows = prepareRead((db, { id }: ConversationKey) =>
  db.selectFrom("audit").selectAll().where("conversation_id", "=", id).orderBy("id"),
);
/** Prepared once per number of conversations. */
const tagRows = prepareRead((db, ids: Readonly<Record<string, string>>) =>
  db
    .selectFrom("conversation_tags")
    .select(["conversation_id", "tag"])
    .where("conversation_id", "in", Object.values(ids))
    .orderBy("tag"),
);

function auditEntry(row: Selectable<AuditTable>): object {
  return {
    id: row.id,
    action: row.action,
    actor: { type: row.actor_type, id: row.actor_id, name: row.actor_name },
    from: row.from_value,
    to: row.to_value,
    detail: row.detail,
    created_at: timestamp(row.created_at),
  };
}

function callerSettings(caller: Caller): WorkspaceSettings {
  return storedSettings(caller.settings);
}
