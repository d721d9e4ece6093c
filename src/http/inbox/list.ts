import { sql } from "kysely";
import { styledText } from "#channels/text/styled-text.ts";
import { customerLabel } from "#domain/customer/display-name.ts";
import { statuses } from "#domain/conversation/status.ts";
import type { Status } from "#domain/conversation/status.ts";
import type { Role } from "#domain/conversation/message.ts";
import { Problem } from "#domain/problem.ts";
import type { SlaState } from "#domain/conversation/sla.ts";
import { slaState } from "#domain/conversation/sla.ts";
import type { WorkspaceSettings } from "#domain/workspace/settings.ts";
import type { ListPosition } from "#database/search/contract.ts";
import type { Reader } from "#database/contract.ts";
import type { ConversationRow } from "#database/queries/conversations.ts";
import type { HttpDependencies } from "#http/dependencies.ts";
import type { Colleague, Counts, ListItem, ListPage, Person, SlaView, View, WaitingOrder } from "./wire.ts";

export interface ListRequest {
  readonly workspaceId: string;
  readonly me: string;
  readonly view: View;
  readonly text: string | undefined;
  readonly cursor: string | undefined;
  /** Counts in the views of those that wait, where nothing is searched for. */
  readonly order: WaitingOrder;
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
  if (text === undefined && request.order === "urgency" && (view === "unassigned" || view === "escalated")) {
    return urgentPage(store.read, settings, request, now);
  }
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

const invalidCursor = (): Problem => new Problem("invalid_cursor", "cursor must be a nextCursor of this list.");

/** A position within the agent's own workspace says nothing secret, so it is not signed. */
function positionOf(cursor: string | undefined): ListPosition | undefined {
  if (cursor === undefined) return undefined;
  const match = /^(\d{1,15})\.(conv_[0-9a-z]{26})$/.exec(cursor);
  if (match?.[1] === undefined || match[2] === undefined) throw invalidCursor();
  return { startedAt: Number(match[1]), id: match[2] };
}

/** Most urgent first. A page ends in one of them, and the next one begins there. */
const urgencies: readonly SlaState[] = ["breached", "at_risk", "in_compliance"];

interface WaitingCursor {
  readonly state: number;
  readonly since: number;
  readonly id: string;
}

async function urgentPage(
  db: Reader,
  settings: WorkspaceSettings,
  { workspaceId, view, cursor }: ListRequest,
  now: number,
): Promise<ListPage> {
  const after = waitingOf(cursor);
  const found: WaitingCursor[] = [];
  for (const [state, name] of urgencies.entries()) {
    if (state < (after?.state ?? 0) || found.length > pageSize) continue;
    const from = after?.state === state ? after : undefined;
    // Each is a range of the index, in its order; two together would have to be sorted.
    const ranges = await Promise.all(statusesOf[view].map((status) => waiting(db, workspaceId, status, name, from)));
    const merged = ranges.flat().toSorted((a, b) => a.since - b.since || (a.id < b.id ? -1 : 1));
    found.push(...merged.map((each) => ({ ...each, state })));
  }
  const page = found.slice(0, pageSize);
  const last = page.at(-1);
  const rows = await rowsOf(
    db,
    page.map(({ id }) => id),
  );
  return {
    items: await itemsOf(db, workspaceId, settings, rows, now),
    nextCursor: found.length > pageSize && last !== undefined ? `${last.state}.${last.since}.${last.id}` : null,
    now,
  };
}

function waitingOf(cursor: string | undefined): WaitingCursor | undefined {
  if (cursor === undefined) return undefined;
  const [, state, since, id] = /^([0-2])\.(\d{1,15})\.(conv_[0-9a-z]{26})$/.exec(cursor) ?? [];
  if (state === undefined || since === undefined || id === undefined) throw invalidCursor();
  return { state: Number(state), since: Number(since), id };
}

async function waiting(
  db: Reader,
  workspaceId: string,
  status: Status,
  state: SlaState,
  after: WaitingCursor | undefined,
): Promise<readonly Omit<WaitingCursor, "state">[]> {
  // The database computes it, so it is no column that rows are written with.
  const waitingSince = sql<number | null>`waiting_since`;
  let query = db
    .selectFrom("conversations")
    .select(["id", waitingSince.as("since")])
    .where("workspace_id", "=", workspaceId)
    .where("status", "=", status)
    .where("sla_state", "=", state);
  if (after !== undefined) {
    const { since, id } = after;
    query = query
      .where(waitingSince, ">=", since)
      .where((eb) => eb.or([eb(waitingSince, ">", since), eb("id", ">", id)]));
  }
  const rows = await query
    .orderBy(waitingSince)
    .orderBy("id")
    .limit(pageSize + 1)
    .execute();
  return rows.map((row) => ({ id: row.id, since: row.since ?? 0 }));
}

/** The conversations of these ids, in their order. */
async function rowsOf(db: Reader, ids: readonly string[]): Promise<readonly ConversationRow[]> {
  if (ids.length === 0) return [];
  const rows = await db
    .selectFrom("conversations")
    .selectAll()
    .where("id", "in", [...ids])
    .execute();
  const byId = new Map(rows.map((row) => [row.id, row]));
  return ids.flatMap((id) => byId.get(id) ?? []);
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
          .on((eb) =>
            eb(
              "messages.seq",
              "=",
              eb
                .case()
                .when("conversations.last_customer_seq", ">", 0)
                .then(eb.ref("conversations.last_customer_seq"))
                .else(eb.ref("conversations.last_seq"))
                .end(),
            ),
          ),
      )
      .innerJoin("messages as newest", (join) =>
        join
          .onRef("newest.conversation_id", "=", "conversations.id")
          .onRef("newest.seq", "=", "conversations.last_seq"),
      )
      .select([
        "newest.role as lastRole",
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
                    : previewText(last.role, last.content),
            },
      lastRole: last?.lastRole ?? null,
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

/** A line to recognise a message by, without the marks of Markdown. Customers write plain text: a star is a star. */
function previewText(role: Role, content: string): string {
  const start = content.slice(0, previewChars * 4);
  const text =
    role === "user"
      ? start
      : styledText(start)
          .map((run) => run.text)
          .join("");
  return text.replaceAll(/\s+/gu, " ").trim().slice(0, previewChars);
}
