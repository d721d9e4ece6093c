import { DeliveryError } from "#channels/errors.ts";
import type { DeliverDependencies } from "#conversations/delivery/deliver-dependencies.ts";
import { noteProblem } from "#conversations/delivery/failures.ts";
import { requireRunning, waitsForResumption } from "#conversations/delivery/paused.ts";
import { RetryLater } from "#queue/retry-later.ts";
import { lockDraft } from "#conversations/transaction/lock-conversation.ts";
import type { Tx } from "#database/contract.ts";
import { LostLease, finishWork, isHeld } from "#database/queries/outbox.ts";
import type { ConversationSearch } from "#database/search/contract.ts";
import type { Work, WorkDeclaration } from "#database/work.ts";
import { declareWork, eachRow } from "#database/work.ts";
import type { AgentReaction } from "./agent-reaction.ts";
import { reactionKind } from "./agent-reaction.ts";

type Dependencies = Pick<DeliverDependencies, "store" | "clock" | "channels" | "search" | "publishEffects">;

/** Shows the reaction on the platform. Doing it twice does no harm, so a failed attempt is simply retried. */
async function sendReaction(dependencies: Dependencies, row: Work<AgentReaction>, signal: AbortSignal): Promise<void> {
  const { store, clock, channels, search, publishEffects } = dependencies;
  const { messageId, emoji, replaces } = row.payload;
  const message = await store.read
    .selectFrom("messages as message")
    .innerJoin("conversations as conversation", "conversation.id", "message.conversation_id")
    .select(["message.external_id", "conversation.account_id", "conversation.context_key"])
    .where("message.id", "=", messageId)
    .where("message.deleted_at", "is", null)
    .executeTakeFirst();
  if (message === undefined || message.external_id === null) return store.write((tx) => finishWork(tx, [row]));
  const account = { id: message.account_id };
  try {
    await channels.ready(account);
    await requireRunning(store.read, channels, account);
    const adapter = channels.adapter(account);
    if (adapter.react === undefined) throw new DeliveryError("rejected", "the channel shows customers no reactions");
    // A process that lost its lease must not overwrite a newer reaction.
    if (!(await isHeld(store, row))) throw new LostLease();
    await adapter.react(message.external_id, emoji, { thread: message.context_key, signal, replaces });
  } catch (error) {
    if (!(error instanceof DeliveryError)) throw error;
    if (error.outcome !== "rejected") throw new RetryLater(error.message, error.retryAfterMs, error);
    publishEffects(
      await store.write(async (tx) => {
        await finishWork(tx, [row]);
        return refuse(tx, search, row.payload, error.message, clock.now());
      }),
    );
    return;
  }
  await store.write((tx) => finishWork(tx, [row]));
}

/** Removes a reaction that the customer does not see, and leaves a note. */
async function refuse(
  tx: Tx,
  search: ConversationSearch,
  { conversationId, messageId, emoji, replaces }: AgentReaction,
  reason: string,
  now: number,
) {
  const found = await lockDraft(tx, search, conversationId, now);
  if (found === undefined) return null;
  const { changes, draft } = found;
  if (emoji !== null) {
    const { numDeletedRows } = await tx
      .deleteFrom("reactions")
      .where("message_id", "=", messageId)
      .where("role", "=", "agent")
      .where("emoji", "=", emoji)
      .executeTakeFirst();
    if (numDeletedRows > 0n) draft.messageReacted(messageId);
  }
  const note =
    emoji === null
      ? `The reaction ${replaces ?? ""} could not be taken back, and the customer still sees it: ${reason}`
      : `The reaction ${emoji} did not reach the customer: ${reason}`;
  await noteProblem(tx, draft, note, now);
  return changes.flush(tx);
}

export function declareReaction(dependencies: Dependencies): WorkDeclaration {
  return declareWork(reactionKind, {
    attemptsMax: 12,
    ...waitsForResumption,
    run: eachRow((row, signal) => sendReaction(dependencies, row, signal)),
    async onAbandon(tx, { payload }, reason, now) {
      const effects = await refuse(tx, dependencies.search, payload, reason, now);
      return () => dependencies.publishEffects(effects);
    },
  });
}
