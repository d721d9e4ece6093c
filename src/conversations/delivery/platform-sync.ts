import type { InboundEvent } from "#channels/contract.ts";
import { DeliveryError } from "#channels/errors.ts";
import { wakeTarget } from "#domain/conversation/status.ts";
import type { Actor, Channel } from "#domain/conversation/message.ts";
import { systemActor } from "#domain/conversation/message.ts";
import type { PayloadOf, Work, WorkDeclaration, WorkKind } from "#database/work.ts";
import { declareWork, eachRow } from "#database/work.ts";
import { LostLease, finishWork, insertWork, isHeld } from "#database/queries/outbox.ts";
import { lockDraft } from "#conversations/transaction/lock-conversation.ts";
import type { Draft } from "#conversations/transaction/draft.ts";
import type { Effects } from "#conversations/work/effects.ts";
import {
  platformStatusOf,
  pushHandoverKind,
  pushNoteKind,
  pushStatusKind,
} from "#conversations/work/platform-status.ts";
import type { DeliverDependencies } from "./deliver-dependencies.ts";
import { requireRunning, waitsForResumption } from "./paused.ts";
import { RetryLater } from "#queue/retry-later.ts";
import { noteProblem } from "./failures.ts";
import type { ConversationSearch } from "#database/search/contract.ts";
import type { Tx } from "#database/contract.ts";
import { claim } from "#conversations/transaction/owner.ts";
import { insertNote } from "#conversations/transaction/insert-note.ts";

// On some platforms agents open, close and snooze conversations and write notes too. Both sides are kept in sync, and no
// change is sent back to the side that made it.

type StateEvent = Extract<InboundEvent, { kind: "state" }>;

/** Applies a change of the platform here. Changes without a counterpart in the lifecycle are ignored. */
export function applyPlatformStatus(draft: Draft, { change, by }: StateEvent, channel: Channel, now: number): void {
  const { row } = draft;
  const actor: Actor = by === null ? systemActor(channel) : { type: "agent", id: by.email, name: by.name };
  switch (change.kind) {
    case "closed":
      draft.setPlatformStatus(change);
      if (row.status !== "resolved" && row.status !== "archived") draft.setStatus("resolved", actor);
      return;
    case "open":
      draft.setPlatformStatus(change);
      if (row.status === "resolved" || row.status === "archived") draft.setStatus("open", actor);
      else if (row.status === "snoozed") draft.setStatus(wakeTarget(row.snoozed_from), actor);
      return;
    case "snoozed":
      if (change.until !== null && change.until <= now) return;
      draft.setPlatformStatus(change);
      draft.setStatus("snoozed", actor, { snoozedUntil: change.until });
      return;
    case "taken":
      if (by === null) return;
      if (row.status === "open" || row.status === "escalated") claim(draft, by.email, actor);
      else if (row.status === "claimed") reassign(draft, by.email, actor);
      return;
    case "released":
      if (row.status === "claimed") draft.setStatus("open", actor);
      return;
    case "ours":
      return;
  }
}

function reassign(draft: Draft, email: string, actor: Actor): void {
  const { row } = draft;
  if (row.assigned_to === email) return;
  draft.syncDesk({ kind: "event", id: draft.audit("assigned", actor, { from: row.assigned_to, to: email }) });
  row.assigned_to = email;
  draft.emit("conversation.assigned", actor);
}

/** Stores a note that was written on the platform, and does not send it back. */
export async function noteFromPlatform(
  tx: Tx,
  draft: Draft,
  { email }: { readonly email: string },
  content: string,
  now: number,
): Promise<void> {
  const actor: Actor = { type: "agent", id: email, name: null };
  await insertNote(tx, draft, { content, authorEmail: email, hereOnly: true }, actor, now);
}

type Dependencies = Pick<DeliverDependencies, "store" | "clock" | "channels" | "search" | "publishEffects">;

/** Sets the platform's status to the conversation's status of now, not to that of the moment the work was queued. */
async function pushStatus(
  dependencies: Dependencies,
  row: Work<PayloadOf<typeof pushStatusKind>>,
  signal: AbortSignal,
): Promise<void> {
  const { store, channels, clock } = dependencies;
  const { conversationId } = row.payload;
  const conversation = await store.read
    .selectFrom("conversations")
    .selectAll()
    .where("id", "=", conversationId)
    .executeTakeFirst();
  if (conversation === undefined) return store.write((tx) => finishWork(tx, [row]));
  const { account_id: id, context_key: thread } = conversation;
  const status = platformStatusOf(conversation);
  const trouble = "The conversation could not be changed on its platform as well";
  let called = false;
  const call = async (): Promise<void> => {
    called = true;
    return channels.adapter({ id }).setState?.(status, { thread, signal });
  };
  try {
    await callPlatform(dependencies, row, { id }, trouble, call);
  } catch (error) {
    if (!(error instanceof LostLease) || !called) throw error;
    // The process may have paused during the call and overwritten a newer status. Push the status again.
    const now = clock.now();
    await store.write((tx) => insertWork(tx, [pushStatusKind.queued(row.lane, { conversationId }, now)], now));
    throw error;
  }
}

async function pushNote(
  dependencies: Dependencies,
  row: Work<PayloadOf<typeof pushNoteKind>>,
  signal: AbortSignal,
): Promise<void> {
  const { store, channels } = dependencies;
  const { noteId } = row.payload;
  const note = await store.read
    .selectFrom("notes")
    .innerJoin("conversations", "conversations.id", "notes.conversation_id")
    .select(["notes.id", "notes.content", "notes.author", "notes.created_at"])
    .select(["conversations.account_id", "conversations.context_key"])
    .where("notes.id", "=", noteId)
    .executeTakeFirst();
  if (note === undefined) return store.write((tx) => finishWork(tx, [row]));
  const { content: text, author, created_at: createdAt, account_id: id, context_key: thread } = note;
  await callPlatform(dependencies, row, { id }, "A note could not be shown on the conversation's platform", async () =>
    channels.adapter({ id }).addNote?.({ id: noteId, text, author, createdAt }, { thread, signal }),
  );
}

async function pushHandover(
  dependencies: Dependencies,
  row: Work<PayloadOf<typeof pushHandoverKind>>,
  signal: AbortSignal,
): Promise<void> {
  const { store, channels } = dependencies;
  const { conversationId, handedOver } = row.payload;
  const conversation = await store.read
    .selectFrom("conversations")
    .select(["account_id", "context_key"])
    .where("id", "=", conversationId)
    .executeTakeFirst();
  if (conversation === undefined) return store.write((tx) => finishWork(tx, [row]));
  const { account_id: id, context_key: thread } = conversation;
  await callPlatform(
    dependencies,
    row,
    { id },
    "The hand-over could not be shown on the conversation's platform",
    async () => channels.adapter({ id }).handOver?.(handedOver, { thread, signal }),
  );
}

/**
 * Makes the platform call if this process still holds the lease. A rejected call becomes a note for agents, so that the
 * messages behind it are not blocked.
 */
async function callPlatform(
  dependencies: Dependencies,
  row: PushedWork,
  account: { readonly id: string },
  trouble: string,
  call: () => Promise<void>,
): Promise<void> {
  const { store, channels, search, clock, publishEffects } = dependencies;
  try {
    await channels.ready(account);
    await requireRunning(store.read, channels, account);
    if (!(await isHeld(store, row))) throw new LostLease();
    await call();
  } catch (error) {
    if (!(error instanceof DeliveryError)) throw error;
    if (error.outcome !== "rejected") throw new RetryLater(error.message, error.retryAfterMs, error);
    const note = `${trouble}: ${error.message}`;
    publishEffects(
      await store.write(async (tx) => {
        await finishWork(tx, [row]);
        return notePlatformFailure(tx, search, row, note, clock.now());
      }),
    );
    return;
  }
  await store.write((tx) => finishWork(tx, [row]));
}

type PushedWork = Work<{ readonly conversationId: string }>;

/** Keep the platform's status, notes and handovers in step with the conversation. */
export function declarePlatformSync(dependencies: Dependencies): readonly WorkDeclaration[] {
  const { search, publishEffects } = dependencies;
  const declare = <P extends { readonly conversationId: string }>(
    kind: WorkKind<P>,
    push: (dependencies: Dependencies, row: Work<P>, signal: AbortSignal) => Promise<void>,
  ): WorkDeclaration =>
    declareWork(kind, {
      attemptsMax: 24,
      ...waitsForResumption,
      run: eachRow((row, signal) => push(dependencies, row, signal)),
      async onAbandon(tx, row, reason, now) {
        const note = `The conversation's platform was not told of a change here: ${reason}`;
        const effects = await notePlatformFailure(tx, search, row, note, now);
        return () => publishEffects(effects);
      },
    });
  return [
    declare(pushStatusKind, pushStatus),
    declare(pushHandoverKind, pushHandover),
    declare(pushNoteKind, pushNote),
  ];
}

async function notePlatformFailure(
  tx: Tx,
  search: ConversationSearch,
  { payload }: PushedWork,
  note: string,
  now: number,
): Promise<Effects | null> {
  const locked = await lockDraft(tx, search, payload.conversationId, now);
  if (locked === undefined) return null;
  const { changes, draft } = locked;
  await noteProblem(tx, draft, note, now);
  return changes.flush(tx);
}
