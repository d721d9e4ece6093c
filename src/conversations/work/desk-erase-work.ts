import { deleteDesk, postedOf, resetThread } from "#database/queries/desk.ts";
import { Type } from "typebox";
import { workKind } from "#database/work.ts";
import type { NewWork } from "#database/queries/outbox.ts";
import { insertWork } from "#database/queries/outbox.ts";
import type { Tx } from "#database/contract.ts";

/** Removes the desk's posts of a deleted conversation. */
export const deskEraseKind = workKind(
  "desk-erase",
  Type.Object({ accountId: Type.String(), shown: Type.Array(Type.String()) }),
  { unordered: true },
);

const shownAtOnce = 50;

/** About two hours. Afterwards a deleted workspace is removed anyway. */
export const eraseTries = 20;
export const eraseLane = (accountId: string): string => `desk-erase:${accountId}`;

/**
 * Queues the removal of a conversation's posts from the desk, in the transaction that deletes it. The work does not
 * name the conversation, so that it remains after the customer's erasure.
 */
export async function eraseWork(tx: Tx, conversationId: string, now: number): Promise<readonly NewWork[]> {
  const posted = await postedOf(tx, conversationId);
  await deleteDesk(tx, conversationId);
  return takeBack(posted, now);
}

/** Does the same before a new thread is opened, so that a later deletion leaves nothing of the previous thread. */
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
      return deskEraseKind.queued(eraseLane(accountId), { accountId, shown }, now);
    });
  });
}
