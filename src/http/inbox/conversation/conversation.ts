import { safeTree } from "#channels/text/markdown.ts";
import { customerLabel } from "#domain/customer/display-name.ts";
import { Problem } from "#domain/problem.ts";
import type { WorkspaceSettings } from "#domain/workspace/settings.ts";
import type { Engine } from "#conversations/contract.ts";
import type { Reader } from "#database/contract.ts";
import { verifiedByConversation } from "#conversations/contacts/provenance.ts";
import type { ConversationRow } from "#database/queries/conversations.ts";
import type { RatingsTable } from "#database/schema/feedback.ts";
import type { AuditTable, NotesTable } from "#database/schema/tables.ts";
import type { AuditView, ConversationView, NoteView, Person } from "#http/inbox/wire.ts";
import { peopleOf, personOf, slaOf, tagsOf } from "./fields.ts";
import { messagePage } from "./messages.ts";

const notesMax = 500;
const auditMax = 500;
const othersMax = 8;

/** The signed-in agent. */
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
  { db, engine }: { readonly db: Reader; readonly engine: Pick<Engine, "editAbilities" | "window"> },
  { workspace_id: workspaceId, email }: Viewer,
  id: string,
  settings: WorkspaceSettings,
  now: number,
): Promise<ConversationView> {
  const row = await requireRow(db, workspaceId, id);
  const [{ messages, hasEarlier }, notes, audit, tags, others, page, people, amendable, window] = await Promise.all([
    messagePage(db, id, {}, email),
    latestNotes(db, id),
    latestAudit(db, id),
    tagsOf(db, [id]),
    otherConversations(db, row),
    lastPage(db, id),
    peopleOf(db, workspaceId),
    engine.editAbilities(row.account_id, row.channel),
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
    customer: customerView(row, verified.get(id) ?? [], page),
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
    notes: notes.toReversed().map((note) => noteView(note, people)),
    audit: audit
      .toReversed()
      .filter(({ action }) => action !== "note_added")
      .map((entry) => auditView(entry, people)),
    others: others.map(({ started_at: startedAt, ...other }) => ({ ...other, startedAt })),
    now,
  };
}

const latestNotes = (db: Reader, conversationId: string) =>
  db
    .selectFrom("notes")
    .selectAll()
    .where("conversation_id", "=", conversationId)
    .orderBy("id", "desc")
    .limit(notesMax)
    .execute();

const latestAudit = (db: Reader, conversationId: string) =>
  db
    .selectFrom("audit")
    .leftJoin("ratings", (join) =>
      join.onRef("ratings.conversation_id", "=", "audit.conversation_id").on("audit.action", "=", "rated"),
    )
    .selectAll("audit")
    .select("ratings.comment")
    .where("audit.conversation_id", "=", conversationId)
    .orderBy("audit.id", "desc")
    .limit(auditMax)
    .execute();

const otherConversations = (db: Reader, row: ConversationRow) =>
  db
    .selectFrom("conversations")
    .select(["id", "status", "channel", "started_at"])
    .where("contact_id", "=", row.contact_id)
    .where("workspace_id", "=", row.workspace_id)
    .where("id", "!=", row.id)
    .orderBy("started_at", "desc")
    .limit(othersMax)
    .execute();

function customerView(
  row: ConversationRow,
  verifiedFields: ConversationView["customer"]["verifiedFields"],
  page: string | null,
): ConversationView["customer"] {
  return {
    contactId: row.contact_id,
    label: customerLabel(row),
    name: row.customer_name,
    email: row.customer_email,
    phone: row.customer_phone,
    verified: row.customer_verified === 1,
    verifiedFields,
    page,
  };
}

function noteView({ id, author, content, created_at }: NotesTable, people: ReadonlyMap<string, Person>): NoteView {
  const name = author === "system" ? "Parley" : (people.get(author)?.name ?? author.replace(/^api_key:/u, "API: "));
  return { id, author: name, content: safeTree(content), createdAt: created_at };
}

type Entry = AuditTable & Pick<RatingsTable, "comment">;

function auditView(entry: Entry, people: ReadonlyMap<string, Person>): AuditView {
  const { id, action, from_value: from, to_value: to, comment, created_at: createdAt } = entry;
  const detail = entry.detail ?? comment;
  const named = action === "assigned" ? (personOf(people, to)?.name ?? to) : to;
  const automatic = entry.actor_type === "system" || entry.actor_type === "assistant";
  return { id, action, actor: actorName(entry, people), automatic, from, to: named, detail, createdAt };
}

function actorName(
  { actor_type: type, actor_id: id, actor_name: name }: AuditTable,
  people: ReadonlyMap<string, Person>,
): string {
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
