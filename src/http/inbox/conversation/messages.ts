import { plainBlocks, safeTree } from "#channels/text/markdown.ts";
import { previewTypes } from "#domain/media-types.ts";
import type { Source } from "#domain/conversation/message.ts";
import { messagesByOthers } from "#conversations/agents/ownership.ts";
import { editsInProgress } from "#conversations/agents/inbox-messages.ts";
import { attachmentsOf } from "#conversations/attachments/attachments.ts";
import { reactionsOf } from "#conversations/references/stored-reactions.ts";
import type { Reader } from "#database/contract.ts";
import type { ReactionsTable } from "#database/schema/feedback.ts";
import type { DeliveryState, MessagesTable } from "#database/schema/tables.ts";
import { shownForward } from "#conversations/references/forwarded.ts";
import { shownReferences } from "#conversations/references/shown-references.ts";
import type { FileView, MessagePage, MessageView, ReactionView } from "#http/inbox/wire.ts";
import { messagesShownMax } from "#http/inbox/wire.ts";

const messagesPerPage = 100;

export interface MessageRange {
  /** The first sequence number, inclusive. */
  readonly from?: number;
  /** The end, exclusive. */
  readonly before?: number;
  /** Instead of `from`: the first message of this time or later. */
  readonly at?: number;
}

/**
 * A page that ends before `before`, or begins with `from` or `at`. Without any of them, or if there is no message since
 * `at`: the newest page. A page with both ends has all messages between them, up to {@link messagesShownMax}.
 */
export async function messagePage(
  db: Reader,
  conversationId: string,
  { from, before, at }: MessageRange,
  viewer: string,
): Promise<MessagePage> {
  const first = from ?? (at === undefined ? undefined : await seqAt(db, conversationId, at));
  const forward = first !== undefined;
  const most = forward && before !== undefined ? messagesShownMax : messagesPerPage;
  let query = db.selectFrom("messages").selectAll().where("conversation_id", "=", conversationId);
  if (forward) query = query.where("seq", ">=", first);
  if (before !== undefined) query = query.where("seq", "<", before);
  const rows = await query
    .orderBy("seq", forward ? "asc" : "desc")
    .limit(most + 1)
    .execute();
  const hasMore = rows.length > most;
  const shown = forward ? rows.slice(0, most) : rows.slice(0, most).toReversed();
  return {
    messages: await messageViews(db, shown, viewer),
    // Sequence numbers begin with 1 and have no gaps.
    hasEarlier: forward ? (shown[0]?.seq ?? 1) > 1 : hasMore,
    hasLater: before !== undefined || (forward && hasMore),
  };
}

async function seqAt(db: Reader, conversationId: string, at: number): Promise<number | undefined> {
  const row = await db
    .selectFrom("messages")
    .select("seq")
    .where("conversation_id", "=", conversationId)
    .where("created_at", ">=", at)
    .orderBy("seq")
    .limit(1)
    .executeTakeFirst();
  return row?.seq;
}

/** Messages of customers and colleagues after `seq`; not those of the bot or of this agent. */
export async function writtenSince(
  db: Reader,
  conversationId: string,
  seq: number,
  agent: string,
): Promise<readonly MessageView[]> {
  const newer = messagesByOthers(db, conversationId, seq, agent);
  const rows = await newer.selectAll().orderBy("seq").limit(20).execute();
  return messageViews(db, rows, agent);
}

async function messageViews(db: Reader, rows: readonly MessagesTable[], viewer: string): Promise<MessageView[]> {
  const sent = rows.filter(({ role }) => role !== "user").map(({ id }) => id);
  const deliveries =
    sent.length === 0
      ? []
      : await db
          .selectFrom("deliveries")
          .select(["message_id", "state", "error", "thread"])
          .where("message_id", "in", sent)
          // A queued fallback is only sent if the customer does not see the message in time.
          .where((eb) => eb.or([eb("unless_seen", "is", null), eb("state", "!=", "queued")]))
          .execute();
  const files = await attachmentsOf(db, rows);
  const changing = rows.some(({ role }) => role === "agent")
    ? await editsInProgress(db, rows[0]?.conversation_id ?? "")
    : new Map<string, "edit" | "remove">();
  const thumbs = await thumbsOf(
    db,
    rows.filter(({ kind }) => kind !== null).map(({ id }) => id),
  );
  const references = await shownReferences(db, rows);
  const reactions = await reactionsOf(db, rows);
  const byMessage = Map.groupBy(deliveries, (delivery) => delivery.message_id);
  return rows.map((row) => ({
    id: row.id,
    seq: row.seq,
    role: row.role,
    author: row.author_name,
    // Customers write plain text, in which the marks of Markdown are characters.
    content: row.role === "user" ? plainBlocks(row.content) : safeTree(row.content),
    refersTo: references.get(row.id) ?? null,
    forwarded: shownForward(row),
    createdAt: row.created_at,
    edited: row.edited_at !== null,
    deleted: row.deleted_at !== null,
    confidence: row.confidence,
    sources: row.sources === null ? [] : (JSON.parse(row.sources) as Source[]),
    thumbs: thumbs.get(row.id) ?? { up: 0, down: 0 },
    reactions: (reactions.get(row.id) ?? []).map(reactionView),
    delivery: worstPart(byMessage.get(row.id) ?? []),
    unsent: isUnsent(byMessage.get(row.id) ?? []),
    files: (files.get(row.id) ?? []).map(fileView),
    own: row.role === "agent" && row.author_id === viewer && row.deleted_at === null ? row.content : null,
    changing: changing.get(row.id) ?? null,
  }));
}

const reactionView = ({ emoji, role, author_name: author }: ReactionsTable): ReactionView => ({ emoji, role, author });

async function thumbsOf(
  db: Reader,
  messageIds: readonly string[],
): Promise<ReadonlyMap<string, MessageView["thumbs"]>> {
  if (messageIds.length === 0) return new Map();
  const rows = await db
    .selectFrom("answer_feedback")
    .select(["message_id", "value"])
    .where("message_id", "in", messageIds)
    .execute();
  return new Map(
    [...Map.groupBy(rows, (row) => row.message_id)].map(([id, of]) => [
      id,
      { up: of.filter(({ value }) => value === "up").length, down: of.filter(({ value }) => value === "down").length },
    ]),
  );
}

export function fileView(row: {
  readonly id: string;
  readonly name: string;
  readonly media_type: string;
  readonly bytes: number | null;
  readonly state: FileView["state"];
  readonly reason: string | null;
}): FileView {
  const { id, name, bytes, state, reason } = row;
  const isStored = state === "stored";
  return {
    id,
    name,
    bytes,
    state,
    reason,
    url: isStored ? `/inbox/api/files/${id}` : null,
    preview: isStored && previewTypes.has(row.media_type),
  };
}

const severity: Readonly<Record<DeliveryState, number>> = {
  failed: 6,
  unknown: 5,
  queued: 4,
  sending: 3,
  sent: 2,
  delivered: 1,
  read: 0,
};

function worstPart(
  parts: readonly { readonly state: DeliveryState; readonly error: string | null }[],
): MessageView["delivery"] {
  const [part] = parts.toSorted((a, b) => severity[b.state] - severity[a.state]);
  return part === undefined ? null : { state: part.state, error: part.error };
}

/** No part was sent yet. Parts with a thread of their own go out by another channel, where they are not edited. */
const isUnsent = (parts: readonly { readonly state: DeliveryState; readonly thread: string | null }[]): boolean =>
  parts.length > 0 && parts.every(({ state, thread }) => state === "queued" && thread === null);
