import type { Reader, Tx } from "#database/contract.ts";
import { lockConversation } from "#database/queries/conversations.ts";
import type { OutboxRow } from "#database/queries/outbox.ts";
import { insertWork } from "#database/queries/outbox.ts";
import type { Workspace } from "#database/queries/workspaces.ts";
import type { MessagesTable } from "#database/schema/tables.ts";
import { botMayAnswer } from "#domain/conversation/status.ts";
import { turnLane } from "#queue/lanes.ts";
import type { QueryResult } from "./query.ts";
import { conversationNotFound } from "./query-event.ts";
import type { QuestionOptions } from "#conversations/work/question-options.ts";
import { turnKind } from "./turn-kind.ts";

/** An API query whose message is stored. */
export interface StoredQuery {
  readonly workspace: Workspace;
  readonly accountId: string;
  readonly externalId: string;
  readonly conversationId: string;
  readonly seq: number;
  readonly options: QuestionOptions;
  /** The answer for the client while agents have the conversation. */
  readonly waitingMessage: string;
}

export interface Lease {
  readonly id: string;
  readonly until: number;
}

export type QueryState =
  /** Newest message first. */
  | { readonly kind: "answered"; readonly messages: readonly [MessagesTable, ...MessagesTable[]] }
  /** Agents have the conversation. */
  | { readonly kind: "agents" }
  /** This process has leased the work. */
  | { readonly kind: "leased"; readonly work: OutboxRow }
  /** Another process is answering. */
  | { readonly kind: "busy" };

/** Leases the query's work for this process, unless it is answered or being answered. */
export async function leaseQuery(tx: Tx, query: StoredQuery, lease: Lease, now: number): Promise<QueryState> {
  const { workspace, conversationId, seq, options } = query;
  const row = await lockConversation(tx, workspace.id, conversationId);
  if (row === undefined) throw conversationNotFound();
  const [last, ...earlier] = await repliesTo(tx, query).execute();
  if (last !== undefined) return { kind: "answered", messages: [last, ...earlier] };
  if (!botMayAnswer(row.status)) return { kind: "agents" };
  const stored = await workOf(tx, query);
  if (stored === undefined) {
    // An earlier attempt failed and its work was withdrawn.
    const work = turnKind.queued(turnLane(conversationId), { conversationId, seq, options }, now);
    await insertWork(tx, [{ ...work, lease }], now);
    const inserted = await workOf(tx, query);
    if (inserted === undefined) throw new Error("the work of a query is missing after its insert");
    return { kind: "leased", work: inserted };
  }
  const leased = { lease_id: lease.id, lease_until: lease.until };
  const { numUpdatedRows } = await tx
    .updateTable("outbox")
    .set(leased)
    .where("id", "=", stored.id)
    .where("dead_at", "is", null)
    .where((eb) => eb.or([eb("lease_id", "is", null), eb("lease_until", "<=", now)]))
    .executeTakeFirst();
  return numUpdatedRows === 1n ? { kind: "leased", work: { ...stored, ...leased } } : { kind: "busy" };
}

async function workOf(tx: Tx, { conversationId, seq }: StoredQuery): Promise<OutboxRow | undefined> {
  const rows = await tx.selectFrom("outbox").selectAll().where("lane", "=", turnLane(conversationId)).execute();
  return rows.find((row) => turnKind.read(row).payload.seq === seq);
}

/** Returns the work of a query whose COMMIT had no result; undefined if it was not stored. */
export async function workOfEvent(
  tx: Tx,
  { accountId, externalId }: Pick<StoredQuery, "accountId" | "externalId">,
  lease: Lease,
): Promise<OutboxRow | undefined> {
  const event = await tx
    .selectFrom("inbound_events")
    .select("conversation_id")
    .where("account_id", "=", accountId)
    .where("external_id", "=", externalId)
    .executeTakeFirst();
  if (typeof event?.conversation_id !== "string") return undefined;
  return tx
    .selectFrom("outbox")
    .selectAll()
    .where("lane", "=", turnLane(event.conversation_id))
    .where("lease_id", "=", lease.id)
    .where("lease_until", "=", lease.until)
    .executeTakeFirst();
}

const repliesTo = (db: Reader | Tx, { conversationId, seq }: StoredQuery) =>
  db
    .selectFrom("messages")
    .selectAll()
    .where("conversation_id", "=", conversationId)
    .where("role", "=", "assistant")
    .where("answers_seq", "=", seq)
    .orderBy("seq", "desc");

/** Returns the result if it is not the bot's turn. A rule may have replied nevertheless. */
export async function ruleReplyOrWaiting(db: Reader, query: StoredQuery): Promise<QueryResult> {
  const reply = await repliesTo(db, query).limit(1).executeTakeFirst();
  return reply === undefined ? waitingResult(query) : resultOf(query, reply);
}

/** The client reads the newest message. Skills, tokens and confidence are those of the message with the answer. */
export function resultOf(
  { conversationId }: StoredQuery,
  last: MessagesTable,
  ...earlier: readonly MessagesTable[]
): QueryResult {
  const answer = [last, ...earlier].find(({ confidence }) => confidence !== null) ?? last;
  return {
    answer: last.content,
    sources: JSON.parse(last.sources ?? "[]") as QueryResult["sources"],
    conversationId,
    messageId: last.id,
    skillsFired: JSON.parse(answer.skills ?? "[]") as string[],
    tokensUsed: answer.tokens_used ?? 0,
    confidence: answer.confidence,
  };
}

export function waitingResult({ waitingMessage, conversationId }: StoredQuery): QueryResult {
  return {
    answer: waitingMessage,
    sources: [],
    conversationId,
    messageId: null,
    skillsFired: [],
    tokensUsed: 0,
    confidence: null,
  };
}
