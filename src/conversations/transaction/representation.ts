import type { Selectable } from "kysely";
import type { Source } from "#domain/conversation/message.ts";
import { slaState } from "#domain/conversation/sla.ts";
import type { WorkspaceSettings } from "#domain/workspace/settings.ts";
import type { ConversationRow } from "#database/queries/conversations.ts";
import { slaClock } from "#database/queries/conversations.ts";
import type { RatingsTable, ReactionsTable } from "#database/schema/feedback.ts";
import type { ContactsTable, MessagesTable } from "#database/schema/tables.ts";
import type { DocumentsTable } from "#database/schema/knowledge.ts";
import type { Note } from "./note.ts";
import type { AttachmentRow } from "#conversations/attachments/attachments.ts";
import { verifiedFields } from "#domain/customer/provenance.ts";
import { shownForward } from "#conversations/references/forwarded.ts";
import { referenceIn } from "#conversations/references/stored-reference.ts";

// The shape of rows in the API and in webhook events, so that clients parse both with the same code.

export function timestamp(ms: number): string {
  return new Date(ms).toISOString();
}

/** A conversation as in a list. */
export function conversationItem(
  row: ConversationRow,
  tags: readonly string[],
  settings: WorkspaceSettings,
  now: number,
): object {
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
    sla_state: currentSlaState(row, settings, now),
    assigned_to: row.assigned_to,
    priority: row.priority,
    contact_id: row.contact_id,
    previous_conversation_id: row.previous_conversation_id,
  };
}

export function ratingItem(row: RatingsTable): object {
  return {
    id: row.id,
    score: row.score,
    comment: row.comment,
    agent: row.agent,
    created_at: timestamp(row.created_at),
    updated_at: timestamp(row.updated_at),
  };
}

export function noteItem({ id, conversationId, content, author, createdAt }: Note) {
  return { id, conversation_id: conversationId, content, author, created_at: timestamp(createdAt) };
}

/** A contact as in a list. */
export const contactItem = (row: ContactsTable) => ({
  id: row.id,
  workspace_id: row.workspace_id,
  name: row.name,
  email: row.email,
  phone: row.phone,
  user_id: row.user_id,
  verified: [...verifiedFields(row)],
  attributes: JSON.parse(row.attributes) as Readonly<Record<string, unknown>>,
  created_at: timestamp(row.created_at),
  updated_at: timestamp(row.updated_at),
});

/** The stored state is as old as the row's last change; while the clock runs, what it shows now counts. */
function currentSlaState(row: ConversationRow, settings: WorkspaceSettings, now: number): string {
  if (row.sla_running_since === null) return row.sla_state;
  return slaState(slaClock(row), settings.slaTargets[row.priority], now);
}

/**
 * A file of a message. `url` is an address that ends to work after a while; events have none, since they are read late.
 */
function attachmentItem(row: AttachmentRow, link?: (id: string) => string): object {
  return {
    id: row.id,
    name: row.name,
    media_type: row.media_type,
    bytes: row.bytes,
    state: row.state,
    error: row.reason,
    url: row.state === "stored" && link !== undefined ? link(row.id) : null,
  };
}

function referenceItem(refersTo: string): object {
  const { message_id = null, text = null } = referenceIn(refersTo) ?? {};
  return { message_id, text };
}

/** A customer's key on the platform is no name, and is not shown. */
const reactionItem = ({ emoji, role, author, author_name: name }: ReactionsTable): object => ({
  emoji,
  author: role === "agent" ? author : name,
  role,
});

export function messageItem(
  row: Selectable<MessagesTable>,
  {
    attachments = [],
    reactions = [],
    link,
  }: {
    readonly attachments?: readonly AttachmentRow[] | undefined;
    readonly reactions?: readonly ReactionsTable[] | undefined;
    readonly link?: (id: string) => string;
  } = {},
): object {
  return {
    id: row.id,
    role: row.role,
    // A message that the customer deleted on the platform is not shown here either.
    content: row.deleted_at === null ? row.content : "",
    created_at: timestamp(row.created_at),
    ...(attachments.length === 0 ? {} : { attachments: attachments.map((file) => attachmentItem(file, link)) }),
    ...(row.metadata === null || row.role !== "user"
      ? {}
      : { metadata: JSON.parse(row.metadata) as Readonly<Record<string, unknown>> }),
    ...(row.refers_to === null ? {} : { refers_to: referenceItem(row.refers_to) }),
    ...(row.forwarded === null ? {} : { forwarded: shownForward(row) }),
    ...(reactions.length === 0 ? {} : { reactions: reactions.map(reactionItem) }),
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

export function documentItem(row: Selectable<DocumentsTable>): object {
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
    ...(row.source === "crawl" ? { crawled_at: row.crawled_at === null ? null : timestamp(row.crawled_at) } : {}),
  };
}
