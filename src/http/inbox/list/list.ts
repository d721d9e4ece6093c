import { statuses } from "#domain/conversation/status.ts";
import type { Status } from "#domain/conversation/status.ts";
import type { WorkspaceSettings } from "#domain/workspace/settings.ts";
import type { ListPosition } from "#database/search/contract.ts";
import type { Reader } from "#database/contract.ts";
import type { ConversationRow } from "#database/queries/conversations.ts";
import type { HttpDependencies } from "#http/dependencies.ts";
import type { ListPage, View, WaitingOrder } from "#http/inbox/wire.ts";
import { listItems } from "./items.ts";
import { invalidCursor, pageSize } from "./paging.ts";
import { urgentPage } from "./urgency.ts";

export interface ListRequest {
  readonly workspaceId: string;
  readonly me: string;
  readonly view: View;
  readonly text: string | undefined;
  readonly cursor: string | undefined;
  /** Used in the views of waiting conversations, without a search. */
  readonly order: WaitingOrder;
}

/** Pages of a search that are read to find the agent's own conversations. */
const ownSearchPagesMax = 10;

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

/**
 * A page of a view or a search. Views of active conversations are ordered by the latest message; the others and searches by
 * the start of the conversation, as in the API.
 */
export async function listPage(
  { store, listConversations }: Pick<HttpDependencies, "store" | "listConversations">,
  settings: WorkspaceSettings,
  request: ListRequest,
  now: number,
): Promise<ListPage> {
  const { workspaceId, view, text } = request;
  if (text === undefined && request.order === "urgency" && (view === "unassigned" || view === "escalated")) {
    return urgentPage(store.read, settings, { ...request, statuses: statusesOf[view] }, now);
  }
  const before = positionOf(request.cursor);
  const live = text === undefined && view !== "resolved" && view !== "all";
  const { rows, hasMore } = live
    ? await liveRows(store.read, request, before)
    : await otherRows(listConversations, request, before);
  const last = rows.at(-1);
  return {
    items: await listItems(store.read, workspaceId, settings, rows, now),
    nextCursor: hasMore && last !== undefined ? `${live ? last.last_message_at : last.started_at}.${last.id}` : null,
    now,
  };
}

/** The cursor is not signed: a position in the agent's own workspace holds nothing secret. */
function positionOf(cursor: string | undefined): ListPosition | undefined {
  if (cursor === undefined) return undefined;
  const match = /^(\d{1,15})\.(conv_[0-9a-z]{26})$/.exec(cursor);
  if (match?.[1] === undefined || match[2] === undefined) throw invalidCursor();
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

/** Finds a customer by a complete e-mail address. An address of no customer is searched for as text. */
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
