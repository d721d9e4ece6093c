import type { Insertable } from "kysely";
import type { Tx } from "#database/contract.ts";
import { insertRows } from "#database/dialects/insert-rows.ts";
import type { ConversationRow } from "#database/queries/conversations.ts";
import type { NewWork } from "#database/queries/outbox.ts";
import type { WeakAnswersTable } from "#database/schema/feedback.ts";
import { groupWork } from "#conversations/work/group-questions-work.ts";

export type WeakAnswerReason = "refused" | "unsure" | "disliked" | "handed_over";

type Conversation = Pick<ConversationRow, "id" | "workspace_id" | "channel">;

interface Found {
  readonly conversation: Conversation;
  /** The number of the customer's message. */
  readonly seq: number;
  readonly reason: WeakAnswerReason;
}

/** Questions that a transaction found to be badly answered. */
export interface WeakAnswers {
  add(conversation: Conversation, seq: number, reason: WeakAnswerReason): void;
  /** A thumb down was taken back. A question without another reason is no longer listed. */
  removeDislike(conversation: Conversation, seq: number): void;
  /** Called when people take the conversation over. Concerns the question of the bot's last answer, if it was recent. */
  addHandover(conversation: Conversation): void;
  /** Writes the rows after the messages. Returns the work that groups them. Costs nothing if there are none. */
  write(tx: Tx, now: number): Promise<readonly NewWork[]>;
}

export function createWeakAnswers(): WeakAnswers {
  const found: Found[] = [];
  const notDisliked: Omit<Found, "reason">[] = [];
  const handedOver: Conversation[] = [];
  return {
    add: (conversation, seq, reason) => void found.push({ conversation, seq, reason }),
    removeDislike(conversation, seq) {
      const isOf = (each: Found): boolean =>
        each.conversation.id === conversation.id && each.seq === seq && each.reason === "disliked";
      found.splice(0, found.length, ...found.filter((each) => !isOf(each)));
      notDisliked.push({ conversation, seq });
    },
    addHandover: (conversation) => void handedOver.push(conversation),
    async write(tx, now) {
      for (const { conversation, seq } of notDisliked) await deleteDislike(tx, conversation.id, seq);
      for (const conversation of handedOver) {
        const seq = await questionBeforeHandover(tx, conversation.id);
        if (seq !== undefined) found.push({ conversation, seq, reason: "handed_over" });
      }
      if (found.length === 0) return [];
      for (const [reason, of] of Map.groupBy(found, (each) => each.reason)) await writeReason(tx, reason, of);
      const workspaces = new Set(found.map(({ conversation }) => conversation.workspace_id));
      return [...workspaces].map((id) => groupWork(id, now));
    },
  };
}

/** A hand-over counts against an answer for so many turns of the customer. */
const turnsMax = 2;
/** Enough for these turns and what rules and agents say between them. */
const messagesRead = 20;

async function questionBeforeHandover(tx: Tx, conversationId: string): Promise<number | undefined> {
  const rows = await tx
    .selectFrom("messages")
    .select(["role", "kind", "answers_seq"])
    .where("conversation_id", "=", conversationId)
    .orderBy("seq", "desc")
    .limit(messagesRead)
    .execute();
  let turns = 0;
  for (const [at, { role, kind, answers_seq: seq }] of rows.entries()) {
    // Messages in a row are one turn.
    if (role === "user" && rows[at - 1]?.role !== "user") turns += 1;
    if (turns > turnsMax || role === "agent") return undefined;
    if (kind === "answer" || kind === "refusal") return seq ?? undefined;
  }
  return undefined;
}

async function writeReason(tx: Tx, reason: WeakAnswerReason, found: readonly Found[]): Promise<void> {
  const rows: Insertable<WeakAnswersTable>[] = [];
  for (const [id, of] of Map.groupBy(found, ({ conversation }) => conversation.id)) {
    const messages = await tx
      .selectFrom("messages")
      .select(["id", "created_at"])
      .where("conversation_id", "=", id)
      .where("seq", "in", [...new Set(of.map(({ seq }) => seq))])
      .where("role", "=", "user")
      .execute();
    const [{ conversation }] = of as [Found];
    for (const message of messages) {
      rows.push({
        message_id: message.id,
        workspace_id: conversation.workspace_id,
        conversation_id: id,
        channel: conversation.channel,
        asked_at: message.created_at,
        [reason]: 1,
      });
    }
  }
  await insertRows(tx, "weak_answers", rows, { keys: ["message_id"], replace: [reason] });
}

async function deleteDislike(tx: Tx, conversationId: string, seq: number): Promise<void> {
  const message = await tx
    .selectFrom("messages")
    .select("id")
    .where("conversation_id", "=", conversationId)
    .where("seq", "=", seq)
    .executeTakeFirst();
  if (message === undefined) return;
  await tx.updateTable("weak_answers").set({ disliked: 0 }).where("message_id", "=", message.id).execute();
  await tx
    .deleteFrom("weak_answers")
    .where("message_id", "=", message.id)
    .where((eb) => eb.and({ refused: 0, unsure: 0, disliked: 0, handed_over: 0 }))
    .execute();
}
