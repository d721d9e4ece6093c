import type { Answer } from "#answering/contract.ts";
import type { Channels } from "#channels/channels.ts";
import type { Tx } from "#database/contract.ts";
import type { TurnWork } from "./turn-kind.ts";
import { hasWork } from "#database/queries/outbox.ts";
import type { MessagesTable } from "#database/schema/tables.ts";
import { foundNoAnswer, lowConfidence } from "#domain/conversation/audit-details.ts";
import { systemActor } from "#domain/conversation/message.ts";
import { botMayAnswer } from "#domain/conversation/status.ts";
import type { SkillCall } from "#domain/workspace/skill.ts";
import { turnLane } from "#queue/lanes.ts";
import { claimDetails } from "#conversations/contacts/verified-user.ts";
import type { NewMessage } from "#conversations/transaction/new-message.ts";
import type { Draft } from "#conversations/transaction/draft.ts";
import { addBotMessage, handOver } from "#conversations/delivery/bot-message.ts";
import type { Decision } from "./decision.ts";
import { isAnswerSent, sourcesMax } from "./decision.ts";
import type { Turn } from "./turn.ts";
import { messagesMax } from "./turn.ts";
import type { TurnReply } from "./turn-committer.ts";

/** A customer who keeps writing gets an answer to their messages after this time. */
const patienceMs = 2_000;

/** Stores the bot's reply. Returns null if it is no longer the bot's turn. `rows`: the outbox rows of the turn. */
export async function storeDecision(
  tx: Tx,
  draft: Draft,
  channels: Channels,
  turn: Turn,
  rows: readonly TurnWork[],
  decision: Decision,
): Promise<TurnReply | null> {
  const { row, now } = draft;
  const { perQuery, last, lastCustomerSeq, settings } = turn;
  if (!botMayAnswer(row.status)) return null;
  if (!perQuery && row.settled_seq >= last.seq) return null;
  // A newer message has its own work, unless a rule has answered it.
  const hasNewer = !perQuery && row.last_customer_seq > lastCustomerSeq && (await hasWork(tx, turnLane(row.id)));
  if (hasNewer && mayDiscard(turn, rows, now)) return null;
  const answersSeq = perQuery ? last.seq : lastCustomerSeq;
  row.settled_seq = Math.max(row.settled_seq, perQuery || hasNewer ? answersSeq : row.last_customer_seq);
  const reply = addReply(draft, channels, turn, decision, answersSeq);
  const actor = { type: "assistant", id: null, name: settings.botName } as const;
  for (const { skill, outcome, arguments: names } of callsOf(decision.answer)) {
    const detail = names.length === 0 ? outcome : `${outcome} (${names.join(", ")})`;
    draft.audit("skill_called", actor, { to: skill, detail });
  }
  if (decision.answer?.lead !== undefined) await claimDetails(tx, draft, decision.answer.lead, now);
  return { reply, answer: decision.answer ?? null };
}

/** Whether this answer may be discarded in favour of one that includes newer messages. */
function mayDiscard({ first, messages, unanswered }: Turn, rows: readonly TurnWork[], now: number): boolean {
  if (now - first.created_at >= patienceMs) return false;
  // A discarded answer has deleted the rows of its messages, so it is discarded once only.
  const seqs = new Set(rows.map(({ payload }) => payload.seq));
  return messages.length < messagesMax && unanswered.every(({ seq }) => seqs.has(seq));
}

/** Adds the bot's messages: the answer, the hand-over or both. Returns the last one. */
function addReply(
  draft: Draft,
  channels: Channels,
  { settings, lowStep }: Turn,
  decision: Decision,
  answersSeq: number,
): MessagesTable {
  if (decision.kind === "escalate") {
    const { reason, answer } = decision;
    const spent = answer === undefined ? {} : { skills: answer.skillsFired, tokensUsed: answer.tokensUsed };
    return handOver(draft, channels, settings, systemActor("escalation"), { reason, answersSeq, ...spent });
  }
  const { escalate } = decision;
  if (decision.kind === "answer") addWeakAnswer(draft, decision.answer, answersSeq);
  let reply: MessagesTable | undefined;
  if (decision.kind === "files_only" && !escalate) {
    draft.row.low_streak += lowStep;
    const message = { content: settings.filesOnlyMessage, answersSeq, confidence: "low" } as const;
    reply = addBotMessage(draft, channels, settings, [], message);
  }
  if (isAnswerSent(decision)) {
    const { answer, audience } = decision;
    draft.row.low_streak = answer.confidence === "low" ? draft.row.low_streak + lowStep : 0;
    const message = {
      content: answer.text,
      answersSeq,
      confidence: answer.confidence,
      ...kindOf(answer),
      skills: JSON.stringify(answer.skillsFired),
      tokensUsed: answer.tokensUsed,
      audience: audience.length === 0 ? null : JSON.stringify(audience),
    };
    reply = addBotMessage(draft, channels, settings, answer.sources.slice(0, sourcesMax), message, escalate);
  }
  if (!escalate) {
    if (reply === undefined) throw new Error("a turn that does not escalate has an answer");
    return reply;
  }
  const reason = lowConfidence(settings.lowAnswersToEscalate);
  return handOver(draft, channels, settings, systemActor("escalation"), { reason, answersSeq });
}

/** Replies to courtesies use no skill, and are no answers. */
const kindOf = ({ answered, skillsFired }: Answer): Pick<NewMessage, "kind"> =>
  skillsFired.length === 0 ? {} : { kind: answered ? "answer" : "refusal" };

function addWeakAnswer(draft: Draft, answer: Answer, answersSeq: number): void {
  if (kindOf(answer).kind === undefined) return;
  if (!answer.answered) draft.addWeakAnswer(answersSeq, "refused");
  else if (answer.confidence === "low") draft.addWeakAnswer(answersSeq, "unsure");
}

/** Records the document search as a skill call, limited to what the answer shows. */
function callsOf(answer: Answer | undefined): readonly SkillCall[] {
  if (answer === undefined) return [];
  const { calls = [], skillsFired, sources, answered } = answer;
  const searches = skillsFired.filter((name) => !calls.some(({ skill }) => skill === name));
  const outcome = answered
    ? `answered, with ${sources.length} ${sources.length === 1 ? "source" : "sources"}`
    : foundNoAnswer;
  return [...calls, ...searches.map((skill) => ({ skill, arguments: [], outcome }))];
}
