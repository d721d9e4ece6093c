import { newId } from "#domain/ids.ts";
import type { Role } from "#domain/conversation/message.ts";
import type { ConversationRow } from "#database/queries/conversations.ts";
import type { MessagesTable } from "#database/schema/tables.ts";
import type { MessageFiles } from "#conversations/attachments/attachments.ts";
import { noFiles } from "#conversations/attachments/attachments.ts";

export interface NewMessage {
  readonly role: Role;
  readonly content: string;
  readonly authorId?: string | null;
  readonly authorName?: string | null;
  readonly externalId?: string | null;
  readonly answersSeq?: number;
  readonly confidence?: MessagesTable["confidence"];
  readonly kind?: MessagesTable["kind"];
  readonly sources?: string;
  readonly skills?: string;
  readonly tokensUsed?: number;
  readonly metadata?: string;
  readonly refersTo?: string | null;
  readonly forwarded?: string | null;
  readonly audience?: string | null;
  readonly files?: MessageFiles;
  /** The parts to send; empty if the customer fetches the message. */
  readonly parts?: readonly NewPart[];
}

export interface NewPart {
  readonly payload: string;
  /** Another account through which the message is sent as well. */
  readonly elsewhere?: {
    readonly accountId: string;
    /** Delay in milliseconds; the message is not sent if the customer has seen it in the conversation by then. */
    readonly afterMs: number;
  };
  /** The reason why the conversation's channel refuses the message: it is not queued there, and is rerouted. */
  readonly closed?: string;
}

/** The row of the message with the conversation's last sequence number. */
export function messageRow(row: ConversationRow, message: NewMessage, now: number): MessagesTable {
  const { files = noFiles } = message;
  const count = files.fresh.length + files.uploaded.length;
  return {
    id: newId("msg", now),
    conversation_id: row.id,
    seq: row.last_seq,
    role: message.role,
    content: message.content,
    author_id: message.authorId ?? null,
    author_name: message.authorName ?? null,
    external_id: message.externalId ?? null,
    answers_seq: message.answersSeq ?? null,
    confidence: message.confidence ?? null,
    sources: message.sources ?? null,
    skills: message.skills ?? null,
    tokens_used: message.tokensUsed ?? null,
    metadata: message.metadata ?? null,
    refers_to: message.refersTo ?? null,
    forwarded: message.forwarded ?? null,
    audience: message.audience ?? null,
    files: count === 0 ? null : count,
    created_at: now,
    edited_at: null,
    deleted_at: null,
    reacted_at: null,
    kind: message.kind ?? null,
  };
}
