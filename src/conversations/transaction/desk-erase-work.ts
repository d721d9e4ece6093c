import { deleteDesk, postedOf, resetThread } from "#database/queries/desk.ts";
import type { NewWork } from "#database/queries/outbox.ts";
import { insertWork } from "#database/queries/outbox.ts";
import type { Tx } from "#database/contract.ts";

export interface ErasePayload {
  readonly accountId: string;
  readonly shown: readonly string[];
}

const shownAtOnce = 50;

/** About two hours; after them a workspace that is deleted is removed all the same. */
export const eraseTries = 20;
export const eraseLane = (accountId: string): string => `desk-erase:${accountId}`;

/**
 * The work of taking back what the desk shows of a conversation, which is deleted in this transaction. It does not name
 * the conversation, so that it outlives the customer's erasure.
 */
export async function eraseWork(tx: Tx, conversationId: string, now: number): Promise<readonly NewWork[]> {
  const posted = await postedOf(tx, conversationId);
  await deleteDesk(tx, conversationId);
  return takeBack(posted, now);
}

/** The same for a thread that begins anew: nothing of the one before stays that a later deletion would not find. */
export async function startNewThread(tx: Tx, conversationId: string, now: number): Promise<void> {
  const posted = await postedOf(tx, conversationId);
  await resetThread(tx, conversationId, now);
  await insertWork(tx, takeBack(posted, now), now);
}

function takeBack(
  posted: readonly { readonly accountId: string; readonly externalId: string }[],
  now: number,
): readonly NewWork[] {
  return [...Map.groupBy(posted, ({ accountId }) => accountId)].flatMap(([accountId, of]) => {
    const all = of.map(({ externalId }) => externalId);
    return Array.from({ length: Math.ceil(all.length / shownAtOnce) }, (_, i): NewWork => {
      const shown = all.slice(i * shownAtOnce, (i + 1) * shownAtOnce);
      return {
        lane: eraseLane(accountId),
        kind: "desk-erase",
        payload: { accountId, shown } satisfies ErasePayload,
        dueAt: now,
      };
    });
  });
}
