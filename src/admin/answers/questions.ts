import type { Selectable } from "kysely";
import { sql } from "kysely";
import { Problem } from "#domain/problem.ts";
import type { Actor } from "#domain/conversation/message.ts";
import type { Reader, Store, Tx } from "#database/contract.ts";
import type { QuestionGroupsTable, QuestionState, WeakAnswersTable } from "#database/schema/feedback.ts";
import type { Clock } from "#runtime/clock.ts";
import { recordChange } from "#admin/audit.ts";

/** The newest weak answers that a list counts. */
const countedMax = 20_000;
const examplesMax = 20;

/** How often each reason occurred. A question can have several. */
export interface ReasonCounts {
  readonly refused: number;
  readonly unsure: number;
  readonly disliked: number;
  readonly handed_over: number;
}

/** Similar questions, counted within a time. */
export interface QuestionGroup {
  readonly id: string;
  /** The newest question. */
  readonly question: string;
  readonly state: QuestionState;
  readonly count: number;
  readonly reasons: ReasonCounts;
  readonly channels: readonly string[];
  readonly lastAskedAt: number;
  /** The document that was written to answer it. */
  readonly document: { readonly id: string; readonly title: string } | null;
}

interface Range {
  readonly workspaceId: string;
  readonly since: number;
}

/** Groups of this state, most frequent first, and their number. */
export async function listQuestions(
  db: Reader,
  { state, limit, ...range }: Range & { readonly state: QuestionState; readonly limit: number },
): Promise<{ readonly groups: readonly QuestionGroup[]; readonly total: number }> {
  const rows = await counts(db, range)
    .innerJoin("question_groups as group", "group.id", "counted.group_id")
    .where("group.state", "=", state)
    .select(["group.id", "group.state", "group.document_id", sql<number>`count(*) over ()`.as("total")])
    .groupBy(["group.id", "group.state", "group.document_id"])
    .orderBy("count", "desc")
    .orderBy("counted.group_id", "desc")
    .limit(limit)
    .execute();
  return { groups: await groupViews(db, range, rows), total: rows[0]?.total ?? 0 };
}

/** The newest weak answers of the range, counted by group. */
function counts(db: Reader, { workspaceId, since }: Range) {
  return db
    .selectFrom((eb) =>
      eb
        .selectFrom("weak_answers")
        .select(["message_id", "group_id", "asked_at", "refused", "unsure", "disliked", "handed_over"])
        .where("workspace_id", "=", workspaceId)
        .where("asked_at", ">=", since)
        .where("group_id", "is not", null)
        .orderBy("asked_at", "desc")
        .limit(countedMax)
        .as("counted"),
    )
    .select(({ fn }) => [
      "counted.group_id",
      fn.countAll<number>().as("count"),
      fn.max("counted.message_id").as("newest"),
      fn.max("counted.asked_at").as("lastAskedAt"),
      fn.sum<number | string>("counted.refused").as("refused"),
      fn.sum<number | string>("counted.unsure").as("unsure"),
      fn.sum<number | string>("counted.disliked").as("disliked"),
      fn.sum<number | string>("counted.handed_over").as("handed_over"),
    ])
    .groupBy("counted.group_id");
}

interface CountedRow {
  readonly id: string;
  readonly state: QuestionState;
  readonly document_id: string | null;
  readonly count: number;
  readonly newest: string;
  readonly lastAskedAt: number;
  readonly refused: number | string;
  readonly unsure: number | string;
  readonly disliked: number | string;
  readonly handed_over: number | string;
}

async function groupViews(db: Reader, range: Range, rows: readonly CountedRow[]): Promise<readonly QuestionGroup[]> {
  if (rows.length === 0) return [];
  const texts = await textsOf(
    db,
    rows.map(({ newest }) => newest),
  );
  const channels = await db
    .selectFrom("weak_answers")
    .select(["group_id", "channel"])
    .distinct()
    .where(
      "group_id",
      "in",
      rows.map(({ id }) => id),
    )
    .where("asked_at", ">=", range.since)
    .orderBy("channel")
    .execute();
  const ids = rows.flatMap(({ document_id: id }) => (id === null ? [] : [id]));
  const documents =
    ids.length === 0
      ? []
      : await db
          .selectFrom("documents")
          .select(["id", "title"])
          .where("workspace_id", "=", range.workspaceId)
          .where("id", "in", ids)
          .execute();
  return rows.map((row) => ({
    id: row.id,
    question: texts.get(row.newest) ?? "",
    state: row.state,
    count: row.count,
    // MySQL returns sums as text.
    reasons: {
      refused: Number(row.refused),
      unsure: Number(row.unsure),
      disliked: Number(row.disliked),
      handed_over: Number(row.handed_over),
    },
    channels: channels.filter(({ group_id: id }) => id === row.id).map(({ channel }) => channel),
    lastAskedAt: row.lastAskedAt,
    document: documents.find(({ id }) => id === row.document_id) ?? null,
  }));
}

async function textsOf(db: Reader, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const rows = await db.selectFrom("messages").select(["id", "content"]).where("id", "in", ids).execute();
  return new Map(rows.map(({ id, content }) => [id, content]));
}

/** One question of a group, in its conversation. */
export interface QuestionExample {
  readonly messageId: string;
  readonly conversationId: string;
  readonly channel: string;
  readonly askedAt: number;
  readonly question: string;
  readonly reasons: readonly (keyof ReasonCounts)[];
}

/** A group, counted since a time, with its newest questions of any time. */
export async function readQuestion(
  db: Reader,
  id: string,
  range: Range,
): Promise<{ readonly group: QuestionGroup; readonly examples: readonly QuestionExample[] }> {
  const found = await requireGroup(db, range.workspaceId, id);
  const rows = await counts(db, range).where("counted.group_id", "=", id).execute();
  const newest = await db
    .selectFrom("weak_answers")
    .selectAll()
    .where("group_id", "=", id)
    .orderBy("asked_at", "desc")
    .orderBy("message_id", "desc")
    .limit(examplesMax)
    .execute();
  const none = { count: 0, newest: newest[0]?.message_id ?? "", lastAskedAt: found.asked_at };
  const counted = rows[0] ?? { ...none, refused: 0, unsure: 0, disliked: 0, handed_over: 0 };
  const [group] = await groupViews(db, range, [{ ...counted, ...found }]);
  if (group === undefined) throw questionNotFound();
  const texts =
    newest.length === 0
      ? new Map<string, string>()
      : await textsOf(
          db,
          newest.map(({ message_id }) => message_id),
        );
  return { group, examples: newest.map((row) => exampleOf(row, texts)) };
}

const reasons = ["refused", "unsure", "disliked", "handed_over"] as const;

const exampleOf = (row: Selectable<WeakAnswersTable>, texts: ReadonlyMap<string, string>): QuestionExample => ({
  messageId: row.message_id,
  conversationId: row.conversation_id,
  channel: row.channel,
  askedAt: row.asked_at,
  question: texts.get(row.message_id) ?? "",
  reasons: reasons.filter((reason) => row[reason] === 1),
});

const questionNotFound = (): Problem => new Problem("not_found", "There is no such question.");

async function requireGroup(db: Reader | Tx, workspaceId: string, id: string): Promise<QuestionGroupsTable> {
  const group = await db
    .selectFrom("question_groups")
    .selectAll()
    .where("id", "=", id)
    .where("workspace_id", "=", workspaceId)
    .executeTakeFirst();
  if (group === undefined) throw questionNotFound();
  return group;
}

const verbs = { open: "reopened", done: "answered", ignored: "ignored" } as const;

/** Changes the state of a group. `documentId`: the document that answers it; null: none is named. */
export async function setQuestionState(
  { store, clock }: { readonly store: Store; readonly clock: Clock },
  given: {
    readonly workspaceId: string;
    readonly id: string;
    readonly state: QuestionState;
    readonly documentId: string | null;
    readonly by: Actor;
  },
): Promise<void> {
  const { workspaceId, id, state, documentId, by } = given;
  await store.write(async (tx) => {
    const group = await requireGroup(tx, workspaceId, id);
    if (documentId !== null) await requireDocument(tx, workspaceId, documentId);
    const now = clock.now();
    await tx
      .updateTable("question_groups")
      .set({ state, state_at: now, state_by: by.id, document_id: documentId ?? group.document_id })
      .where("id", "=", id)
      .execute();
    if (group.state === state && (documentId ?? group.document_id) === group.document_id) return;
    // The audit log outlives the conversation, so it must not hold the customer's words.
    await recordChange(tx, {
      workspaceId,
      by,
      action: `question_${verbs[state]}`,
      subject: id,
      from: group.state,
      to: documentId ?? state,
      now,
    });
  });
}

async function requireDocument(tx: Tx, workspaceId: string, id: string): Promise<void> {
  const row = await tx
    .selectFrom("documents")
    .select("id")
    .where("id", "=", id)
    .where("workspace_id", "=", workspaceId)
    .executeTakeFirst();
  if (row === undefined) throw new Problem("document_not_found", "There is no such document.");
}
