import { systemActor } from "#domain/conversation/message.ts";
import { Problem } from "#domain/problem.ts";
import { settingsIn } from "#database/queries/workspaces.ts";
import type { Tx } from "#database/contract.ts";
import type { WorkDeclaration } from "#database/work.ts";
import { declareWork } from "#database/work.ts";
import type { Checkpoint } from "#runtime/checkpoints.ts";
import { insertNote } from "#conversations/transaction/insert-note.ts";
import type { Effects, PublishEffects } from "#conversations/work/effects.ts";
import { lockDraft } from "#conversations/transaction/lock-conversation.ts";
import type { WorkSubjectDependencies } from "#conversations/transaction/work-subject.ts";
import { subjectOfWork } from "#conversations/transaction/work-subject.ts";
import { escalate } from "#conversations/transaction/owner.ts";
import type { AnswerTurnDependencies } from "./answer-turn.ts";
import { answerTurn } from "./answer-turn.ts";
import { handOver } from "#conversations/delivery/bot-message.ts";
import type { TurnWork } from "./turn-kind.ts";
import { turnKind } from "./turn-kind.ts";

export interface TurnWorkDependencies extends AnswerTurnDependencies, WorkSubjectDependencies {
  readonly checkpoint: Checkpoint;
  readonly publishEffects: PublishEffects;
}

/** A question waits this long for a search that is away. Then the conversation is handed over to agents. */
const questionHeldMs = 120_000;

export const isSearchAway = (error: unknown): error is Problem =>
  error instanceof Problem && error.code === "search_unavailable";

/** Answers the customer's messages. */
export function declareTurn(dependencies: TurnWorkDependencies): WorkDeclaration {
  const { checkpoint, publishEffects } = dependencies;
  return declareWork(turnKind, {
    batch: true,
    attemptsMax: 5,
    async run(rows, signal) {
      const subject = await subjectOfWork(dependencies, rows);
      if (subject === undefined) return;
      const { workspace, conversation } = subject;
      // An API query always gets its own answer. On other channels one answer covers several messages.
      const groups = conversation.channel === "api" ? rows.map((row) => [row]) : [rows];
      checkpoint("answer.before");
      for (const [at, group] of groups.entries()) {
        // The previous answer changed the conversation, so later turns must read it again.
        const read = at === 0 ? conversation : undefined;
        const { effects } = await answerTurn(dependencies, workspace, group, {}, signal, read);
        checkpoint("answer.stored");
        publishEffects(effects);
      }
    },
    // The search is away for a moment, or is being filled for the first time.
    waitsOut: (row, error, now) => isSearchAway(error) && now - row.created_at < questionHeldMs,
    async onAbandon(tx, row, reason, now) {
      const effects = await abandonTurn(tx, dependencies, row, reason, now);
      return () => publishEffects(effects);
    },
  });
}

/** Hands the conversation over to agents. */
async function abandonTurn(
  tx: Tx,
  { search, channels }: Pick<AnswerTurnDependencies, "search" | "channels">,
  { payload }: TurnWork,
  reason: string,
  now: number,
): Promise<Effects | null> {
  const locked = await lockDraft(tx, search, payload.conversationId, now);
  if (locked === undefined || locked.draft.row.status !== "open") return null;
  const { changes, draft } = locked;
  const settings = await settingsIn(tx, draft.row.workspace_id);
  const actor = systemActor("escalation");
  // The account itself may be unusable; the customer can then not be notified.
  const isNotified = draft.row.channel === "api" || channels.loaded({ id: draft.row.account_id });
  if (isNotified) handOver(draft, channels, settings, actor, { reason: "answer failed" });
  else escalate(draft, actor, "answer failed");
  const content = `The bot could not answer${isNotified ? "" : ", and the customer was not told"}: ${reason}`;
  await insertNote(tx, draft, { content, authorEmail: null }, actor, now);
  return changes.flush(tx);
}
