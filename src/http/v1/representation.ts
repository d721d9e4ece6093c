import type { Selectable } from "kysely";
import { slaState } from "#domain/sla.ts";
import type { Source } from "#domain/message.ts";
import type { WorkspaceSettings } from "#domain/workspace.ts";
import { settingsOf } from "#domain/workspace.ts";
import type { Reader } from "#engine/ports.ts";
import type { Note } from "#engine/engine.ts";
import type { ConversationRow } from "#store/conversations.ts";
import type { AuditTable, DocumentsTable, MessagesTable } from "#store/schema.ts";
import type { Caller } from "../auth.ts";
import { conversationNotFound } from "./resources.ts";
import { timestamp } from "./instant.ts";

export type MessageRow = Selectable<MessagesTable>;
export type DocumentRow = Selectable<DocumentsTable>;

/** Rows of the database as the JSON that the API shows. */
export interface Representation {
  conversationItems(caller: Caller, rows: readonly ConversationRow[]): Promise<object[]>;
  /** The whole conversation. Throws Problem conversation_not_found. */
  conversation(caller: Caller, id: string): Promise<object>;
  message(row: MessageRow): object;
  document(row: DocumentRow): object;
  note(note: Note): object;
}

export function createRepresentation(db: Reader, now: () => number): Representation {
  return {
    async conversationItems(caller, rows) {
      const tags = await tagsOf(rows.map(({ id }) => id));
      const settings = callerSettings(caller);
      return rows.map((row) => item(row, tags.get(row.id) ?? [], settings));
    },

    async conversation(caller, id) {
      const row = await db
        .selectFrom("conversations")
        .selectAll()
        .where("id", "=", id)
        .where("workspace_id", "=", caller.workspaceId)
        .executeTakeFirst();
      if (row === undefined) throw conversationNotFound();
      const [tags, messages, notes, audit] = await Promise.all([
        tagsOf([id]),
        db.selectFrom("messages").selectAll().where("conversation_id", "=", id).orderBy("seq").execute(),
        db.selectFrom("notes").selectAll().where("conversation_id", "=", id).orderBy("id").execute(),
        db.selectFrom("audit").selectAll().where("conversation_id", "=", id).orderBy("id").execute(),
      ]);
      const closed = row.status === "resolved" || row.status === "archived";
      return {
        ...item(row, tags.get(id) ?? [], callerSettings(caller)),
        ...(closed && row.resolved_at !== null ? { resolved_at: timestamp(row.resolved_at) } : {}),
        ...(row.status === "snoozed"
          ? { snoozed_until: row.snoozed_until === null ? null : timestamp(row.snoozed_until) }
          : {}),
        messages: messages.map(message),
        internal_notes: notes.map((each) =>
          note({ ...each, conversationId: each.conversation_id, createdAt: each.created_at }),
        ),
        audit_log: audit.map(auditEntry),
      };
    },

    message,
    document,
    note,
  };

  async function tagsOf(ids: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>> {
    const byId = new Map<string, string[]>();
    if (ids.length === 0) return byId;
    const rows = await db
      .selectFrom("conversation_tags")
      .select(["conversation_id", "tag"])
      .where("conversation_id", "in", ids)
      .orderBy("tag")
      .execute();
    for (const { conversation_id, tag } of rows) byId.set(conversation_id, [...(byId.get(conversation_id) ?? []), tag]);
    return byId;
  }

  function item(row: ConversationRow, tags: readonly string[], settings: WorkspaceSettings): object {
    return {
      id: row.id,
      workspace_id: row.workspace_id,
      channel: row.channel,
      status: row.status,
      started_at: timestamp(row.started_at),
      last_message_at: timestamp(row.last_message_at),
      message_count: row.message_count,
      customer: { email: row.customer_email, name: row.customer_name, phone: row.customer_phone },
      tags,
      sla_state: currentSlaState(row, settings),
      assigned_to: row.assigned_to,
      priority: row.priority,
      contact_id: row.contact_id,
      previous_conversation_id: row.previous_conversation_id,
    };
  }

  /** The stored state is as old as the row's last change; while the clock runs, what it shows now counts. */
  function currentSlaState(row: ConversationRow, settings: WorkspaceSettings): string {
    if (row.sla_running_since === null) return row.sla_state;
    const clock = { elapsedMs: row.sla_elapsed_ms, runningSince: row.sla_running_since };
    return slaState(clock, settings.slaTargets[row.priority], now());
  }
}

function message(row: MessageRow): object {
  return {
    id: row.id,
    role: row.role,
    // What the customer took back on their platform is not shown again here.
    content: row.deleted_at === null ? row.content : "",
    created_at: timestamp(row.created_at),
    ...(row.metadata === null || row.role !== "user"
      ? {}
      : { metadata: JSON.parse(row.metadata) as Readonly<Record<string, unknown>> }),
    ...(row.role === "agent" ? { author: row.author_id, author_name: row.author_name } : {}),
    ...(row.role === "assistant"
      ? {
          sources: row.sources === null ? [] : (JSON.parse(row.sources) as readonly Source[]),
          tokens_used: row.tokens_used ?? 0,
          confidence: row.confidence,
          skills_fired: row.skills === null ? [] : (JSON.parse(row.skills) as readonly string[]),
        }
      : {}),
    ...(row.edited_at === null ? {} : { edited_at: timestamp(row.edited_at) }),
    ...(row.deleted_at === null ? {} : { deleted_at: timestamp(row.deleted_at) }),
  };
}

function note({ id, conversationId, content, author, createdAt }: Note): object {
  return { id, conversation_id: conversationId, content, author, created_at: timestamp(createdAt) };
}

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

function document(row: DocumentRow): object {
  return {
    id: row.id,
    workspace_id: row.workspace_id,
    source: row.source,
    title: row.title,
    url: row.url,
    status: row.status,
    error: row.error,
    chunks: row.chunks,
    pages: row.pages,
    audience: JSON.parse(row.audience) as readonly string[],
    created_at: timestamp(row.created_at),
    indexed_at: row.indexed_at === null ? null : timestamp(row.indexed_at),
  };
}

function callerSettings(caller: Caller): WorkspaceSettings {
  return settingsOf(JSON.parse(caller.settings) as Partial<WorkspaceSettings>);
}
