import { plainBlocks, safeTree } from "#channels/text/markdown.ts";
import { customerLabel } from "#domain/customer/display-name.ts";
import { previewTypes } from "#domain/files.ts";
import type { Source } from "#domain/conversation/message.ts";
import { Problem } from "#domain/problem.ts";
import type { WorkspaceSettings } from "#domain/workspace/settings.ts";
import { editsInProgress } from "#conversations/agents/messages.ts";
import { attachmentsOf } from "#conversations/attachments/attachments.ts";
import type { Engine } from "#conversations/contract.ts";
import type { Reader } from "#database/contract.ts";
import { verifiedByConversation } from "#conversations/contacts/provenance.ts";
import type { ConversationRow } from "#database/queries/conversations.ts";
import type { DeliveryState, MessagesTable } from "#database/schema/tables.ts";
import { peopleOf, personOf, slaOf, tagsOf } from "./list.ts";
import type { AuditView, ConversationView, FileView, MessagePage, MessageView, NoteView, Person } from "./wire.ts";
import { messagesShownMax } from "./wire.ts";

const messagesPerPage = 100;
const notesMax = 500;
const auditMax = 500;
const othersMax = 8;

/** The agent who looks at it. */
export interface Viewer {
  readonly workspace_id: string;
  readonly email: string;
}

export async function requireRow(db: Reader, workspaceId: string, id: string): Promise<ConversationRow> {
  const row = await db
    .selectFrom("conversations")
    .selectAll()
    .where("id", "=", id)
    .where("workspace_id", "=", workspaceId)
    .executeTakeFirst();
  if (row === undefined) throw new Problem("conversation_not_found", "This conversation does not exist any more.");
  return row;
}

export async function conversationView(
  { db, engine }: { readonly db: Reader; readonly engine: Pick<Engine, "editsInProgress" | "window"> },
  { workspace_id: workspaceId, email }: Viewer,
  id: string,
  settings: WorkspaceSettings,
  now: number,
): Promise<ConversationView> {
  const row = await requireRow(db, workspaceId, id);
  const [{ messages, hasEarlier }, notes, audit, tags, others, page, people, amendable, window] = await Promise.all([
    messagePage(db, id, {}, email),
    db
      .selectFrom("notes")
      .selectAll()
      .where("conversation_id", "=", id)
      .orderBy("id", "desc")
      .limit(notesMax)
      .execute(),
    db
      .selectFrom("audit")
      .selectAll()
      .where("conversation_id", "=", id)
      .orderBy("id", "desc")
      .limit(auditMax)
      .execute(),
    tagsOf(db, [id]),
    db
      .selectFrom("conversations")
      .select(["id", "status", "channel", "started_at"])
      .where("contact_id", "=", row.contact_id)
      .where("workspace_id", "=", workspaceId)
      .where("id", "!=", id)
      .orderBy("started_at", "desc")
      .limit(othersMax)
      .execute(),
    lastPage(db, id),
    peopleOf(db, workspaceId),
    engine.editsInProgress(row.account_id, row.channel),
    engine.window(row),
  ]);
  const verified = await verifiedByConversation(db, [row]);
  return {
    id,
    channel: row.channel,
    status: row.status,
    snoozedFrom: row.snoozed_from,
    snoozedUntil: row.snoozed_until,
    priority: row.priority,
    assignee: personOf(people, row.assigned_to),
    customer: {
      label: customerLabel(row),
      name: row.customer_name,
      email: row.customer_email,
      phone: row.customer_phone,
      verified: row.customer_verified === 1,
      verifiedFields: verified.get(id) ?? [],
      page,
    },
    sla: slaOf(row, settings, now),
    tags: tags.get(id) ?? [],
    startedAt: row.started_at,
    lastMessageAt: row.last_message_at,
    resolvedAt: row.resolved_at,
    lastSeq: row.last_seq,
    unreachable: row.unreachable,
    amendable,
    window,
    messages,
    hasEarlier,
    notes: notes.toReversed().map((note): NoteView => {
      const author =
        note.author === "system"
          ? "Parley"
          : (people.get(note.author)?.name ?? note.author.replace(/^api_key:/u, "API: "));
      return { id: note.id, author, content: safeTree(note.content), createdAt: note.created_at };
    }),
    audit: audit.toReversed().flatMap((entry): AuditView[] => {
      if (entry.action === "note_added") return [];
      const { id: entryId, action, from_value: from, to_value: to, detail, created_at: createdAt } = entry;
      const named = action === "assigned" ? (personOf(people, to)?.name ?? to) : to;
      const automatic = entry.actor_type === "system" || entry.actor_type === "assistant";
      return [{ id: entryId, action, actor: actorName(entry, people), automatic, from, to: named, detail, createdAt }];
    }),
    others: others.map(({ started_at: startedAt, ...other }) => ({ ...other, startedAt })),
    now,
  };
}

function actorName(
  entry: { readonly actor_type: string; readonly actor_id: string | null; readonly actor_name: string | null },
  people: ReadonlyMap<string, Person>,
): string {
  const { actor_type: type, actor_id: id, actor_name: name } = entry;
  switch (type) {
    case "agent":
      return people.get(id ?? "")?.name ?? name ?? id ?? "An agent";
    case "api_key":
      return name === null ? "The API" : `API: ${name}`;
    case "customer":
      return name ?? "The customer";
    case "assistant":
      return "The assistant";
    default:
      return id ?? "The system";
  }
}

export interface MessageRange {
  /** The first sequence number, inclusive. */
  readonly from?: number;
  /** The end, exclusive. */
  readonly before?: number;
  /** Instead of `from`: the first message of this time or later. */
  readonly at?: number;
}

/**
 * A page that ends before `before`, or one that begins with `from` or `at`; the newest where none of them is given or
 * nothing was written since `at`. With both ends the page has all between them, up to {@link messagesShownMax}.
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

/** What others than this agent have written since `seq`: customers and colleagues, not the bot. */
export async function writtenSince(
  db: Reader,
  conversationId: string,
  seq: number,
  agent: string,
): Promise<readonly MessageView[]> {
  const rows = await db
    .selectFrom("messages")
    .selectAll()
    .where("conversation_id", "=", conversationId)
    .where("seq", ">", seq)
    .where((eb) => eb.or([eb("role", "=", "user"), eb.and([eb("role", "=", "agent"), eb("author_id", "!=", agent)])]))
    .orderBy("seq")
    .limit(20)
    .execute();
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
          // What is only sent if the customer does not look at the message has not come to that yet.
          .where((eb) => eb.or([eb("unless_seen", "is", null), eb("state", "!=", "queued")]))
          .execute();
  const files = await attachmentsOf(db, rows);
  const changing = rows.some(({ role }) => role === "agent")
    ? await editsInProgress(db, rows[0]?.conversation_id ?? "")
    : new Map<string, "edit" | "remove">();
  const byMessage = Map.groupBy(deliveries, (delivery) => delivery.message_id);
  return rows.map((row) => ({
    id: row.id,
    seq: row.seq,
    role: row.role,
    author: row.author_name,
    // Customers write plain text: a star is a star.
    content: row.role === "user" ? plainBlocks(row.content) : safeTree(row.content),
    createdAt: row.created_at,
    edited: row.edited_at !== null,
    deleted: row.deleted_at !== null,
    confidence: row.confidence,
    sources: row.sources === null ? [] : (JSON.parse(row.sources) as Source[]),
    delivery: worst(byMessage.get(row.id) ?? []),
    unsent: isUnsent(byMessage.get(row.id) ?? []),
    files: (files.get(row.id) ?? []).map(fileView),
    own: row.role === "agent" && row.author_id === viewer && row.deleted_at === null ? row.content : null,
    changing: changing.get(row.id) ?? null,
  }));
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

const badness: Readonly<Record<DeliveryState, number>> = {
  failed: 6,
  unknown: 5,
  queued: 4,
  sending: 3,
  sent: 2,
  delivered: 1,
  read: 0,
};

function worst(
  parts: readonly { readonly state: DeliveryState; readonly error: string | null }[],
): MessageView["delivery"] {
  const [part] = parts.toSorted((a, b) => badness[b.state] - badness[a.state]);
  return part === undefined ? null : { state: part.state, error: part.error };
}

/** What goes by another way than the conversation's own is not changed on it. */
const isUnsent = (parts: readonly { readonly state: DeliveryState; readonly thread: string | null }[]): boolean =>
  parts.length > 0 && parts.every(({ state, thread }) => state === "queued" && thread === null);

async function lastPage(db: Reader, conversationId: string): Promise<string | null> {
  const row = await db
    .selectFrom("messages")
    .select("metadata")
    .where("conversation_id", "=", conversationId)
    .where("metadata", "is not", null)
    .orderBy("seq", "desc")
    .limit(1)
    .executeTakeFirst();
  const metadata: unknown = JSON.parse(row?.metadata ?? "null");
  const page = typeof metadata === "object" && metadata !== null && "page" in metadata ? metadata.page : undefined;
  return typeof page === "string" && /^https?:/iu.test(page) && URL.canParse(page) ? page : null;
}
