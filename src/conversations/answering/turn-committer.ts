import type { Answer } from "#answering/contract.ts";
import type { Channels } from "#channels/channels.ts";
import type { Store, Tx } from "#database/contract.ts";
import { lockConversations } from "#database/queries/conversations.ts";
import type { LeasedRow } from "#database/queries/outbox.ts";
import { finishWork } from "#database/queries/outbox.ts";
import type { MessagesTable } from "#database/schema/tables.ts";
import type { ConversationSearch } from "#database/search/contract.ts";
import type { WorkspaceSettings } from "#domain/workspace/settings.ts";
import { createBatchWriter } from "#queue/batch-writer.ts";
import { sendLane } from "#queue/lanes.ts";
import type { Clock } from "#runtime/clock.ts";
import type { DeliveryTracker } from "#conversations/delivery/delivery-tracker.ts";
import { sendKind } from "#conversations/transaction/effects/send-plan.ts";
import type { Draft } from "#conversations/transaction/draft.ts";
import type { Effects } from "#conversations/work/effects.ts";
import type { FindLocalWorker } from "#conversations/transaction/local-worker.ts";
import { claimInline } from "#conversations/transaction/local-worker.ts";
import { createUnitOfWork } from "#conversations/transaction/unit-of-work.ts";

export interface TurnResult {
  readonly effects: Effects | null;
  /** The stored reply. Null if it was no longer the bot's turn. */
  readonly reply: MessagesTable | null;
  readonly answer: Answer | null;
}

export type TurnReply = Pick<TurnResult, "reply" | "answer">;

/** The end of one turn, to be stored. */
export interface TurnCommit {
  /** The outbox rows that the turn ends. */
  readonly rows: readonly LeasedRow[];
  readonly signal: AbortSignal;
  /** Absent: no reply. */
  readonly reply?: {
    readonly workspaceId: string;
    readonly conversationId: string;
    readonly settings: WorkspaceSettings;
    /** Returns null if it is no longer the bot's turn. */
    add(tx: Tx, draft: Draft): Promise<TurnReply | null>;
  };
}

export const noReply: TurnResult = { effects: null, reply: null, answer: null };

/** Stores the results of turns that end at the same time in one transaction. */
export function createTurnCommitter({
  store,
  clock,
  search,
  localWorker,
  channels,
  deliveryTracker,
}: {
  readonly store: Store;
  readonly clock: Clock;
  readonly search: ConversationSearch;
  readonly localWorker: FindLocalWorker;
  readonly channels: Channels;
  readonly deliveryTracker: Pick<DeliveryTracker, "beginStored">;
}): (turn: TurnCommit) => Promise<TurnResult> {
  async function commitAll(tx: Tx, turns: readonly TurnCommit[]): Promise<readonly TurnResult[]> {
    // A turn that was aborted must not be stored.
    for (const { signal } of turns) signal.throwIfAborted();
    // Throws LostLease if another process has taken over: that one replies.
    await finishWork(
      tx,
      turns.flatMap(({ rows }) => rows),
    );
    const ids = turns.flatMap(({ reply }) => reply?.conversationId ?? []);
    const conversations = new Map((await lockConversations(tx, ids)).map((row) => [row.id, row]));
    const changes = createUnitOfWork(clock.now(), search);
    const replies: (TurnReply | null)[] = [];
    for (const { reply } of turns) {
      const row = reply === undefined ? undefined : conversations.get(reply.conversationId);
      const isGone = reply === undefined || row === undefined || row.workspace_id !== reply.workspaceId;
      replies.push(isGone ? null : await reply.add(tx, changes.track(row, reply.settings, false)));
    }
    const first = replies.findIndex((reply) => reply !== null);
    if (first === -1) return turns.map(() => noReply);
    // These are the effects of all turns, so only the first returns them.
    const effects = await claimInline(tx, localWorker(), await changes.flush(tx), changes.now);
    const begun = replies.flatMap((each) => {
      const row = conversations.get(each?.reply?.conversation_id ?? "");
      return row === undefined || !each?.reply || !canBeAsked(channels, row.account_id)
        ? []
        : claimedFirst(effects, row.id, each.reply.id);
    });
    await deliveryTracker.beginStored(tx, begun);
    return replies.map((reply, at) => ({ ...noReply, ...reply, effects: at === first ? effects : null }));
  }

  return createBatchWriter({ store, all: commitAll });
}

/** Whether the platform can tell, after the process has ended, what became of a part. */
function canBeAsked(channels: Channels, accountId: string): boolean {
  const account = { id: accountId };
  // While the account is paused, the part waits, and must stay certainly unsent.
  if (!channels.loaded(account) || channels.paused(account)) return false;
  const { capabilities, reconcile } = channels.adapter(account);
  return !capabilities.idempotentSend && reconcile !== undefined;
}

/** The first part of the message, if its work was claimed and no other part is sent before it. */
function claimedFirst({ taken = [] }: Effects, conversationId: string, messageId: string) {
  const row = taken.find(({ lane }) => lane === sendLane(conversationId));
  if (row?.kind !== sendKind.kind) return [];
  const { deliveryId } = sendKind.read(row).payload;
  return deliveryId === `${messageId}.0` ? [{ row, deliveryId }] : [];
}
