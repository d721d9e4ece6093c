import type { Selectable } from "kysely";
import type { Reader, Store, Tx } from "#database/contract.ts";
import { insertRows } from "#database/dialects/insert-rows.ts";
import { finishWork, insertWork } from "#database/queries/outbox.ts";
import type { QuestionGroupsTable, WeakAnswersTable } from "#database/schema/feedback.ts";
import type { PayloadOf, Work, WorkDeclaration } from "#database/work.ts";
import { declareWork } from "#database/work.ts";
import { newId } from "#domain/ids.ts";
import { letterBody } from "#language/words/letter-body.ts";
import type { Clock } from "#runtime/clock.ts";
import { groupKind, groupWork } from "#conversations/work/group-questions-work.ts";
import { createQuestionIndex, joinedTerms, questionTerms } from "./similarity.ts";

/** Questions of one transaction. */
const questionsAtOnce = 200;
/** New questions are compared with this many groups, the most recently asked ones. */
const groupsMax = 5_000;
/** Messages in a row that form one question. */
const runMax = 6;
/** The answers to earlier messages are among so many messages after the question. */
const answersWithin = 50;

interface GroupDependencies {
  readonly store: Store;
  readonly clock: Clock;
}

/** Work of its own, since an answer must not wait for the comparison with other questions. */
export function declareGrouping(dependencies: GroupDependencies): WorkDeclaration {
  return declareWork(groupKind, {
    batch: true,
    attemptsMax: 20,
    lanesMax: 1,
    run: (rows) => groupQuestions(dependencies, rows),
  });
}

type NewQuestion = Pick<
  Selectable<WeakAnswersTable>,
  "message_id" | "conversation_id" | "channel" | "asked_at" | "refused" | "unsure"
>;

interface GroupedQuestion {
  readonly question: NewQuestion;
  readonly terms: readonly string[];
  /** Null: no words to compare. */
  readonly groupId: string | null;
}

/** Assigns new questions to groups, in the order in which they were asked. */
async function groupQuestions(
  { store, clock }: GroupDependencies,
  rows: readonly Work<PayloadOf<typeof groupKind>>[],
): Promise<void> {
  const [first] = rows;
  if (first === undefined) return;
  const { workspaceId } = first.payload;
  const { read } = store;
  const questions = await newQuestions(read, workspaceId);
  const { index, leaderless } = questions.length === 0 ? emptyIndex : await loadIndex(read, workspaceId);
  const now = clock.now();
  const started: QuestionGroupsTable[] = [];
  const grouped: GroupedQuestion[] = [];
  for (const question of questions) {
    const terms = questionTerms(await textOf(read, question));
    let groupId = terms.length === 0 ? null : index.nearest(terms);
    if (groupId === undefined) {
      groupId = newId("qst", now);
      index.add(groupId, terms);
      started.push(newGroup(groupId, workspaceId, question));
    }
    grouped.push({ question, terms, groupId });
  }
  await store.write(async (tx) => {
    await finishWork(tx, rows);
    await insertRows(tx, "question_groups", started);
    for (const each of grouped) await storeGrouped(tx, each);
    for (const id of leaderless) await replaceLeader(tx, id);
    if (questions.length === questionsAtOnce) await insertWork(tx, [groupWork(workspaceId, now)], now);
  });
}

const emptyIndex = { index: createQuestionIndex(), leaderless: [] };

const newQuestions = (db: Reader, workspaceId: string): Promise<NewQuestion[]> =>
  db
    .selectFrom("weak_answers")
    .select(["message_id", "conversation_id", "channel", "asked_at", "refused", "unsure"])
    .where("workspace_id", "=", workspaceId)
    .where("terms", "is", null)
    .orderBy("asked_at")
    .orderBy("message_id")
    .limit(questionsAtOnce)
    .execute();

/** `leaderless`: groups whose leader was deleted with its conversation. */
async function loadIndex(db: Reader, workspaceId: string) {
  const groups = await db
    .selectFrom("question_groups as group")
    .leftJoin("weak_answers as leader", "leader.message_id", "group.leader_id")
    .select(["group.id", "leader.terms"])
    .where("group.workspace_id", "=", workspaceId)
    .orderBy("group.asked_at", "desc")
    .limit(groupsMax)
    .execute();
  const index = createQuestionIndex();
  const leaderless: string[] = [];
  for (const { id, terms } of groups.toReversed()) {
    if (terms === null) leaderless.push(id);
    else index.add(id, joinedTerms(terms.split(" ")));
  }
  return { index, leaderless };
}

/** The customer's messages in a row that end with the question, after those that were answered by themselves. */
async function textOf(
  db: Reader,
  { message_id: id, conversation_id: conversationId, channel }: NewQuestion,
): Promise<string> {
  const rows = await db
    .selectFrom("messages")
    .select(["role", "content", "seq"])
    .where("conversation_id", "=", conversationId)
    .where("seq", "<=", (eb) => eb.selectFrom("messages as asked").select("asked.seq").where("asked.id", "=", id))
    .orderBy("seq", "desc")
    // Each question over the API is answered by itself.
    .limit(channel === "api" ? 1 : runMax)
    .execute();
  const end = rows.findIndex(({ role }) => role !== "user");
  const run = rows.slice(0, end === -1 ? rows.length : end).toReversed();
  const asked = run.at(-1);
  if (asked === undefined) return "";
  const answered = await db
    .selectFrom("messages")
    .select(({ fn }) => fn.max("answers_seq").as("seq"))
    .where("conversation_id", "=", conversationId)
    .where("seq", ">", asked.seq)
    .where("seq", "<=", asked.seq + answersWithin)
    .where("answers_seq", "<", asked.seq)
    .executeTakeFirst();
  return run
    .filter(({ seq }) => seq > (answered?.seq ?? 0))
    .map(({ content }) => letterBody(content))
    .join("\n");
}

const newGroup = (id: string, workspaceId: string, question: NewQuestion): QuestionGroupsTable => ({
  id,
  workspace_id: workspaceId,
  leader_id: question.message_id,
  asked_at: question.asked_at,
  state: "open",
  document_id: null,
  state_at: question.asked_at,
  state_by: null,
});

async function storeGrouped(tx: Tx, { question, terms, groupId }: GroupedQuestion): Promise<void> {
  await tx
    .updateTable("weak_answers")
    .set({ terms: terms.join(" "), group_id: groupId })
    .where("message_id", "=", question.message_id)
    .execute();
  if (groupId === null) return;
  await tx
    .updateTable("question_groups")
    .set({ asked_at: question.asked_at })
    .where("id", "=", groupId)
    .where("asked_at", "<", question.asked_at)
    .execute();
  if (question.refused === 0 && question.unsure === 0) return;
  // The answer that was written does not help.
  await tx
    .updateTable("question_groups")
    .set({ state: "open" })
    .where("id", "=", groupId)
    .where("state", "=", "done")
    .where("state_at", "<", question.asked_at)
    .execute();
}

/** Makes the oldest remaining question the leader. A group without questions ends. */
async function replaceLeader(tx: Tx, groupId: string): Promise<void> {
  const oldest = await tx
    .selectFrom("weak_answers")
    .select("message_id")
    .where("group_id", "=", groupId)
    .orderBy("asked_at")
    .orderBy("message_id")
    .limit(1)
    .executeTakeFirst();
  if (oldest === undefined) await tx.deleteFrom("question_groups").where("id", "=", groupId).execute();
  else {
    await tx.updateTable("question_groups").set({ leader_id: oldest.message_id }).where("id", "=", groupId).execute();
  }
}
