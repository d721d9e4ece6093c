import { DeliveryError } from "#channels/errors.ts";
import type { PayloadOf, Work, WorkDeclaration } from "#database/work.ts";
import { declareWork, eachRow } from "#database/work.ts";
import { finishWork } from "#database/queries/outbox.ts";
import type { Channels } from "#channels/channels.ts";
import type { Clock } from "#runtime/clock.ts";
import type { Log } from "#runtime/log.ts";
import type { Store } from "#database/contract.ts";
import { deskEraseKind } from "#conversations/work/desk-erase-work.ts";
import { later } from "./sync.ts";

export interface EraseDependencies {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly channels: Channels;
}

/** Retries last this long, because an administrator may restore the app's rights or its place in the channel. */
const triedMs = 7 * 86_400_000;

export function declareDeskErasure(dependencies: EraseDependencies): WorkDeclaration {
  return declareWork(deskEraseKind, {
    attemptsMax: Number.POSITIVE_INFINITY,
    lanesMax: 2,
    run: eachRow((row, signal) => eraseShown(dependencies, row, signal)),
  });
}

/** Deletes the desk's posts of a deleted conversation, one by one. Repeating a deletion is harmless. */
async function eraseShown(
  { store, clock, log, channels }: EraseDependencies,
  row: Work<PayloadOf<typeof deskEraseKind>>,
  signal: AbortSignal,
): Promise<void> {
  const { accountId, shown } = row.payload;
  const desk = await channels.deskToErase({ id: accountId });
  if (desk === undefined) {
    log.warn({ account: accountId, shown: shown.length }, "desk: account is gone, its cards remain");
  }
  const isTried = clock.now() - row.created_at < triedMs;
  let first: unknown;
  for (const id of desk === undefined ? [] : shown) {
    signal.throwIfAborted();
    try {
      await desk?.remove(id, { key: `erase.${row.id}`, signal });
    } catch (error) {
      if (!isTried || isRejected(error)) {
        log.warn({ err: error }, "desk: removing a deleted conversation's card failed");
        continue;
      }
      // One failure must not block the other posts.
      first ??= error;
    }
  }
  if (first !== undefined) throw later(first);
  await store.write((tx) => finishWork(tx, [row]));
}

const isRejected = (error: unknown): boolean => error instanceof DeliveryError && error.outcome === "rejected";
