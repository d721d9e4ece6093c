import { DeliveryError } from "#channels/errors.ts";
import { ThreadGone } from "#channels/desk/errors.ts";
import type { Work, WorkDeclaration } from "#database/work.ts";
import { declareWork } from "#database/work.ts";
import { LostLease, finishWork, holdWork } from "#database/queries/outbox.ts";
import { RetryLater } from "#queue/retry-later.ts";
import { startNewThread } from "#conversations/work/desk-erase-work.ts";
import type { SyncPayload } from "#conversations/work/desk-sync-work.ts";
import { deskLane, deskSyncKind, syncLater, syncNow } from "#conversations/work/desk-sync-work.ts";
import { EditRateLimited } from "./edit-limit.ts";
import { createThreadEdits } from "./edits.ts";
import type { OrLater } from "./items.ts";
import { createThreadItems } from "./items.ts";
import { createThreadPosts } from "./posts.ts";
import { createOverwriteGuard } from "./overwrite-guard.ts";
import type { LeaseHeld, SyncDependencies } from "./thread.ts";
import { beginThread, deskThreadOf, updateCard } from "./thread.ts";

export function declareDeskSync(dependencies: SyncDependencies): WorkDeclaration {
  return declareWork(deskSyncKind, {
    batch: true,
    // Threads are completed after any outage of the desk.
    attemptsMax: Number.POSITIVE_INFINITY,
    // All conversations share the rate limit of the desk's platform, and customers must not wait for it.
    lanesMax: 8,
    run: (rows, signal) => syncDesk(dependencies, rows, signal),
  });
}

/**
 * Posts the changes of a conversation to its thread, in order and once each. A post is stored before its call and updated
 * after it, so that interrupted work continues: the next try asks the platform for posts that may have arrived.
 */
async function syncDesk(
  dependencies: SyncDependencies,
  rows: readonly Work<SyncPayload>[],
  signal: AbortSignal,
): Promise<void> {
  const { store, clock } = dependencies;
  const payloads = rows.map((row) => ({ row, ...row.payload }));
  const [first] = payloads;
  const last = rows.at(-1);
  if (first === undefined || last === undefined) return;
  if (last.lane !== deskLane(first.conversationId)) {
    await store.write(async (tx) => {
      await finishWork(tx, rows);
      await syncNow(tx, payloads, clock.now());
    });
    return;
  }
  // A process that lost its lease must not post, because another one does.
  const held: LeaseHeld = (work) =>
    store.write(async (tx) => {
      await holdWork(tx, last);
      await work(tx);
    });
  const place = await deskThreadOf(dependencies, first.conversationId, held);
  if (place === undefined) {
    await store.write((tx) => finishWork(tx, rows));
    return;
  }
  const changes = createOverwriteGuard(dependencies, last, first.conversationId);
  /** Edits can wait: their rate limit must not block new posts. */
  const orLater: OrLater = async (change, run) => {
    try {
      await run();
    } catch (error) {
      if (!(error instanceof EditRateLimited)) throw error;
      const { id: conversationId } = place.row;
      dependencies.log.info({ err: error, conversation: conversationId }, "desk: change delayed");
      const now = clock.now();
      await held((tx) => syncLater(tx, { conversationId, change }, now + error.afterMs, now));
    }
  };
  try {
    const threadId = await beginThread(dependencies, place, held, signal);
    const posts = createThreadPosts(dependencies, place, threadId, held, signal);
    const edits = createThreadEdits(dependencies, place, posts, changes, signal);
    const thread = createThreadItems(dependencies, place, posts, edits, orLater);
    for (const { row, items } of payloads) {
      await thread.catchUp(items);
      for (const item of items) await thread.show(item);
      if (row !== last) await store.write((tx) => finishWork(tx, [row]));
    }
    await orLater({ kind: "card" }, () => updateCard(dependencies, place, threadId, changes, signal));
    await store.write((tx) => finishWork(tx, [last]));
  } catch (error) {
    if (error instanceof LostLease) await changes.again();
    if (error instanceof ThreadGone) {
      dependencies.log.warn({ err: error, conversation: place.row.id }, "desk: starting another thread");
      await held((tx) => startNewThread(tx, place.row.id, dependencies.clock.now()));
      throw new RetryLater(error.message, undefined, error);
    }
    throw later(error);
  }
}

/** Makes any failure of a platform call a retry. */
export function later(error: unknown): unknown {
  return error instanceof DeliveryError ? new RetryLater(error.message, error.retryAfterMs, error) : error;
}
