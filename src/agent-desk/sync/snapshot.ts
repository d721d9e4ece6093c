import type { DeskConversation, DeskItem, DeskMessage } from "#channels/desk/contract.ts";
import { customerLabel } from "#domain/customer/display-name.ts";
import type { Source } from "#domain/conversation/message.ts";
import { slaState } from "#domain/conversation/sla.ts";
import type { WorkspaceSettings } from "#domain/workspace/settings.ts";
import { nameInConversation } from "#database/queries/agents.ts";
import type { ConversationRow } from "#database/queries/conversations.ts";
import { slaClock } from "#database/queries/conversations.ts";
import type { MessagesTable } from "#database/schema/tables.ts";
import { shownForward } from "#conversations/references/forwarded.ts";
import { shownReferences } from "#conversations/references/shown-references.ts";
import type { AttachmentRow } from "#conversations/attachments/attachments.ts";
import { attachmentsOf } from "#conversations/attachments/attachments.ts";
import type { Reader } from "#database/contract.ts";
import { verifiedByConversation } from "#conversations/contacts/provenance.ts";
import { cardQuestion } from "./card-question.ts";
import { shortened } from "./shortened.ts";
import type { WindowView } from "#conversations/delivery/reroute/reply-window.ts";

export interface SnapshotContext {
  readonly db: Reader;
  readonly publicUrl: string;
  readonly settings: WorkspaceSettings;
  readonly now: number;
  window(row: ConversationRow): Promise<WindowView | null>;
}

const questionChars = 200;

export async function deskConversations(
  { db, publicUrl, settings, now, window }: SnapshotContext,
  rows: readonly ConversationRow[],
): Promise<readonly DeskConversation[]> {
  if (rows.length === 0) return [];
  const ids = rows.map(({ id }) => id);
  const [tags, threads, verified] = await Promise.all([
    db
      .selectFrom("conversation_tags")
      .select(["conversation_id", "tag"])
      .where("conversation_id", "in", ids)
      .orderBy("tag")
      .execute(),
    db
      .selectFrom("desk_threads")
      .select(["conversation_id", "external_id"])
      .where("conversation_id", "in", ids)
      .execute(),
    verifiedByConversation(db, rows),
  ]);
  const names = new Map<string, string>();
  for (const row of rows) {
    if (row.assigned_to !== null) names.set(row.id, await nameInConversation(db, row, row.assigned_to));
  }
  const windows = new Map<string, WindowView | null>();
  for (const row of rows) windows.set(row.id, await window(row));
  const questions = new Map<string, string>();
  for (const row of rows) questions.set(row.id, await cardQuestion(db, row));
  return rows.map((row) => ({
    id: row.id,
    url: `${publicUrl}/inbox#/all/${row.id}`,
    channel: row.channel,
    status: row.status,
    priority: row.priority,
    assignee: row.assigned_to === null ? null : { email: row.assigned_to, name: names.get(row.id) ?? "" },
    customer: {
      label: customerLabel(row),
      name: row.customer_name,
      email: row.customer_email,
      phone: row.customer_phone,
      verified: row.customer_verified === 1,
      verifiedFields: verified.get(row.id) ?? [],
    },
    sla: slaOf(row, settings, now),
    tags: tags.filter((tag) => tag.conversation_id === row.id).map(({ tag }) => tag),
    startedAt: row.started_at,
    snoozedUntil: row.status === "snoozed" ? row.snoozed_until : null,
    question: shortened(questions.get(row.id) ?? "", questionChars),
    window: windows.get(row.id) ?? null,
    thread: threads.find((thread) => thread.conversation_id === row.id)?.external_id ?? null,
  }));
}

function slaOf(row: ConversationRow, settings: WorkspaceSettings, now: number): DeskConversation["sla"] {
  const targetMinutes = settings.slaTargets[row.priority];
  const clock = slaClock(row);
  const leftMs = targetMinutes * 60_000 - clock.elapsedMs;
  return {
    state: slaState(clock, targetMinutes, now),
    dueAt: clock.runningSince === null ? null : clock.runningSince + leftMs,
    leftMs: Math.max(0, leftMs),
  };
}

/** Messages as the desk shows them, with the names of their files. */
export async function deskMessages(db: Reader, rows: readonly MessagesTable[]): Promise<readonly DeskMessage[]> {
  const attachments = await attachmentsOf(db, rows);
  const references = await shownReferences(db, rows);
  return rows.map((row) => deskMessage(row, attachments.get(row.id) ?? [], references.get(row.id)?.text ?? null));
}

function deskMessage(row: MessagesTable, files: readonly AttachmentRow[], refersTo: string | null): DeskMessage {
  return {
    role: row.role,
    authorName: row.author_name,
    text: row.deleted_at === null ? row.content : "",
    refersTo,
    forwarded: shownForward(row),
    files: files.map(({ name }) => name),
    sources: row.sources === null ? [] : (JSON.parse(row.sources) as readonly Source[]),
    confidence: row.confidence,
    createdAt: row.created_at,
    edited: row.edited_at !== null,
    deleted: row.deleted_at !== null,
  };
}

/** A note as the desk shows it. Undefined if it was deleted. */
export async function deskNote(db: Reader, row: ConversationRow, id: string): Promise<DeskItem | undefined> {
  const found = await db.selectFrom("notes").selectAll().where("id", "=", id).executeTakeFirst();
  if (found === undefined) return undefined;
  const { author: by, content: text } = found;
  const isAgent = by.includes("@") && !/^(?:api_key|rule):/u.test(by);
  return { kind: "note", author: isAgent ? await nameInConversation(db, row, by) : nameOf(by), text };
}

const nameOf = (author: string): string =>
  author === "system" ? "Parley" : author.replace(/^api_key:/u, "API: ").replace(/^rule:/u, "the rule ");
