import { customerLabel } from "#domain/customer.ts";
import { statuses } from "#domain/lifecycle.ts";
import type { Status } from "#domain/lifecycle.ts";
import { Problem } from "#domain/problem.ts";
import { slaState } from "#domain/sla.ts";
import type { WorkspaceSettings } from "#domain/workspace.ts";
import type { ListPosition, Reader } from "#engine/ports.ts";
import type { ConversationRow } from "#store/conversations.ts";
import type { HttpDependencies } from "../dependencies.ts";
import type { Colleague, Counts, ListItem, ListPage, Person, SlaView, View } from "./wire.ts";

export interface ListRequest {
  readonly workspaceId: string;
  readonly me: string;
  readonly view: View;
  readonly text: string | undefined;
  readonly cursor: string | undefined;
}

const pageSize = 40;
const countMax = 100;
const previewChars = 160;
/** How many pages of a search are looked through for the agent's own conversations. */
const ownSearchPagesMax = 10;

/** Live views stand by their latest message; what is over, and what is searched for, by its start as in the API. */
const statusesOf: Readonly<Record<View, readonly Status[]>> = {
  unassigned: ["open", "escalated"],
  mine: ["claimed", "snoozed"],
  claimed: ["claimed"],
  escalated: ["escalated"],
  open: ["open"],
  snoozed: ["snoozed"],
  resolved: ["resolved"],
  all: statuses,
};

export async function listPage(
  { store, listConversations }: Pick<HttpDependencies, "store" | "listConversations">,
  settings: WorkspaceSettings,
  request: ListRequest,
  now: number,
): Promise<ListPage> {
  const { workspaceId, view, text } = request;
  const before = positionOf(request.cursor);
  const live = text === undefined && view !== "resolved" && view !== "all";
  const { rows, hasMore } = live
    ? await liveRows(store.read, request, before)
    : await otherRows(listConversations, request, before);
  const last = rows.at(-1);
  return {
    items: await itemsOf(store.read, workspaceId, settings, rows, now),
    nextCursor: hasMore && last !== undefined ? `${live ? last.last_message_at : last.started_at}.${last.id}` : null,
    now,
  };
}

/** A position within the agent's own workspace says nothing secret, so it is not signed. */
function positionOf(cursor: string | undefined): ListPosition | undefined {
  if (cursor === undefined) return undefined;
  const match = /^(\d{1,15})\.(conv_[0-9a-z]{26})$/.exec(cursor);
  if (match?.[1] === undefined || match[2] === undefined)
    throw new Problem("invalid_cursor", "cursor must be a nextCursor of this list.");
  return { startedAt: Number(match[1]), id: match[2] };
}

interface Rows {
  readonly rows: readonly ConversationRow[];
  readonly hasMore: boolean;
}

async function liveRows(
  db: Reader,
  { workspaceId, me, view }: ListRequest,
  before: ListPosition | undefined,
): Promise<Rows> {
  let query = db
    .selectFrom("conversations")
    .selectAll()
    .where("workspace_id", "=", workspaceId)
    .where("status", "in", [...statusesOf[view]]);
  if (view === "mine") query = query.where("assigned_to", "=", me);
  if (before !== undefined) {
    const { startedAt: at, id } = before;
    query = query.where((eb) =>
      eb.or([eb("last_message_at", "<", at), eb.and([eb("last_message_at", "=", at), eb("id", "<", id)])]),
    );
  }
  const rows = await query
    .orderBy("last_message_at", "desc")
    .orderBy("id", "desc")
    .limit(pageSize + 1)
    .execute();
  return { rows: rows.slice(0, pageSize), hasMore: rows.length > pageSize };
}

async function otherRows(
  list: HttpDependencies["listConversations"],
  { workspaceId, me, view, text }: ListRequest,
  before: ListPosition | undefined,
): Promise<Rows> {
  const filter = { workspaceId, ...(text === undefined ? {} : await searchFor(list, workspaceId, text)) };
  if (view === "all") return list(filter, before, pageSize);
  const pages = await Promise.all(
    statusesOf[view].map((status) =>
      view === "mine"
        ? ownRows((from) => list({ ...filter, status }, from, 100), me, before)
        : list({ ...filter, status }, before, pageSize),
    ),
  );
  const rows = pages
    .flatMap((page) => page.rows)
    .toSorted((a, b) => b.started_at - a.started_at || (b.id < a.id ? -1 : 1));
  return { rows: rows.slice(0, pageSize), hasMore: rows.length > pageSize || pages.some(({ hasMore }) => hasMore) };
}

/** A customer's whole address finds the customer; where nobody has it, those who wrote of it, like any other words. */
async function searchFor(
  list: HttpDependencies["listConversations"],
  workspaceId: string,
  text: string,
): Promise<{ readonly email: string } | { readonly text: string }> {
  if (!/^[^\s@"]+@[^\s@"]+$/u.test(text)) return { text };
  const { rows } = await list({ workspaceId, email: text }, undefined, 1);
  return rows.length > 0 ? { email: text } : { text };
}

async function ownRows(
  page: (before: ListPosition | undefined) => Promise<Rows>,
  me: string,
  before: ListPosition | undefined,
): Promise<Rows> {
  const own: ConversationRow[] = [];
  let from = before;
  for (let i = 0; i < ownSearchPagesMax && own.length < pageSize; i += 1) {
    const { rows, hasMore } = await page(from);
    own.push(...rows.filter((row) => row.assigned_to === me));
    const last = rows.at(-1);
    if (!hasMore || last === undefined) return { rows: own, hasMore: false };
    from = { startedAt: last.started_at, id: last.id };
  }
  return { rows: own, hasMore: own.length > 0 };
}

export async function countViews(db: Reader, workspaceId: string, me: string): Promise<Counts> {
  const count = async (status: Status, assignee?: string): Promise<number> => {
    const { value } = await db
      .selectFrom((eb) => {
        const found = eb
          .selectFrom("conversations")
          .select("id")
          .where("workspace_id", "=", workspaceId)
          .where("status", "=", status);
        return (assignee === undefined ? found : found.where("assigned_to", "=", assignee)).limit(countMax).as("some");
      })
      .select((eb) => eb.fn.countAll().as("value"))
      .executeTakeFirstOrThrow();
    return Number(value);
  };
  const [open, escalated, snoozed, claimed, asleep] = await Promise.all([
    count("open"),
    count("escalated"),
    count("snoozed"),
    count("claimed", me),
    count("snoozed", me),
  ]);
  return {
    unassigned: Math.min(countMax, open + escalated),
    mine: Math.min(countMax, claimed + asleep),
    escalated,
    open,
    snoozed,
  };
}

const filesText = (count: number): string => (count === 1 ? "[a file]" : `[${count} files]`);

async function itemsOf(
  db: Reader,
  workspaceId: string,
  settings: WorkspaceSettings,
  rows: readonly ConversationRow[],
  now: number,
): Promise<ListItem[]> {
  if (rows.length === 0) return [];
  const ids = rows.map(({ id }) => id);
  const [people, previews, tags] = await Promise.all([
    peopleOf(db, workspaceId),
    db
      .selectFrom("conversations")
      .innerJoin("messages", (join) =>
        join
          .onRef("messages.conversation_id", "=", "conversations.id")
          .onRef("messages.seq", "=", "conversations.last_seq"),
      )
      .select([
        "messages.conversation_id",
        "messages.role",
        "messages.content",
        "messages.files",
        "messages.deleted_at",
      ])
      .where("conversations.id", "in", ids)
      .execute(),
    tagsOf(db, ids),
  ]);
  const preview = new Map(previews.map((row) => [row.conversation_id, row]));
  return rows.map((row) => {
    const last = preview.get(row.id);
    return {
      id: row.id,
      channel: row.channel,
      status: row.status,
      priority: row.priority,
      customer: customerLabel(row),
      assignee: personOf(people, row.assigned_to),
      preview:
        last === undefined
          ? null
          : {
              role: last.role,
              text:
                last.deleted_at !== null
                  ? "[deleted]"
                  : last.content === "" && last.files !== null
                    ? filesText(last.files)
                    : plainText(last.content),
            },
      lastMessageAt: row.last_message_at,
      startedAt: row.started_at,
      snoozedUntil: row.snoozed_until,
      sla: slaOf(row, settings, now),
      tags: tags.get(row.id) ?? [],
    };
  });
}

export async function tagsOf(
  db: Reader,
  conversationIds: readonly string[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const rows = await db
    .selectFrom("conversation_tags")
    .select(["conversation_id", "tag"])
    .where("conversation_id", "in", [...conversationIds])
    .orderBy("tag")
    .execute();
  return new Map(
    [...Map.groupBy(rows, (row) => row.conversation_id)].map(([id, of]) => [id, of.map(({ tag }) => tag)]),
  );
}

/** The workspace's agents, by name. */
export async function colleagues(db: Reader, workspaceId: string): Promise<Colleague[]> {
  const rows = await db
    .selectFrom("agents")
    .select(["email", "name", "away"])
    .where("workspace_id", "=", workspaceId)
    .orderBy("name")
    .orderBy("email")
    .execute();
  return rows.map(({ email, name, away }) => ({ email, name, away: away === 1 }));
}

/** The workspace's agents, by address. */
export async function peopleOf(db: Reader, workspaceId: string): Promise<ReadonlyMap<string, Person>> {
  const rows = await db
    .selectFrom("agents")
    .select(["email", "name"])
    .where("workspace_id", "=", workspaceId)
    .execute();
  return new Map(rows.map((row) => [row.email, row]));
}

/** Somebody who took a conversation over the API need not be an agent of ours. */
export function personOf(people: ReadonlyMap<string, Person>, email: string | null): Person | null {
  return email === null ? null : (people.get(email.toLowerCase()) ?? { email, name: email });
}

export function slaOf(row: ConversationRow, settings: WorkspaceSettings, now: number): SlaView {
  const target = settings.slaTargets[row.priority];
  const clock = { elapsedMs: row.sla_elapsed_ms, runningSince: row.sla_running_since };
  return { ...clock, state: slaState(clock, target, now), targetMs: target * 60_000 };
}

/** A line to recognise a message by: without the marks of Markdown. */
function plainText(markdown: string): string {
  return markdown
    .slice(0, previewChars * 4)
    .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/gu, "$1")
    .replaceAll(/^\s*(?:[-*+>#]+|\d+[.)])\s+/gmu, "")
    .replaceAll(/[*_`~]{1,3}(?=\S)|(?<=\S)[*_`~]{1,3}/gu, "")
    .replaceAll(/\s+/gu, " ")
    .trim()
    .slice(0, previewChars);
}
