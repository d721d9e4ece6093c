import type { WorkspaceSettings } from "#domain/workspace/settings.ts";
import { Type } from "typebox";
import type { PayloadOf } from "#database/work.ts";
import { kindsOf, workKind } from "#database/work.ts";
import type { ConversationRow } from "#database/queries/conversations.ts";
import { insertThreads, syncedConversations } from "#database/queries/desk.ts";
import type { NewWork } from "#database/queries/outbox.ts";
import { insertWork } from "#database/queries/outbox.ts";
import type { Reader, Tx } from "#database/contract.ts";

/** An item to show in a conversation's thread at the desk. Its text is read when it is shown. */
export type SyncItem =
  | { readonly kind: "message"; readonly seq: number }
  | { readonly kind: "note"; readonly id: string }
  /** An entry of the audit log. */
  | { readonly kind: "event"; readonly id: string }
  /** A file of a message, once it is stored or has failed for good. */
  | { readonly kind: "file"; readonly id: string }
  /** A message or a note whose text was changed or deleted. */
  | { readonly kind: "changed"; readonly id: string }
  /** A message to which customers have reacted, or no longer do. */
  | { readonly kind: "reacted"; readonly id: string }
  /** A reply whose delivery status may be known. */
  | { readonly kind: "fate"; readonly id: string };

const itemKinds = kindsOf<SyncItem["kind"]>({
  message: true,
  note: true,
  event: true,
  file: true,
  changed: true,
  reacted: true,
  fate: true,
});

/** Changes of a conversation to show at the agents' desk. */
export const deskSyncKind = workKind(
  "desk",
  Type.Object({
    conversationId: Type.String(),
    items: Type.Array(Type.Unsafe<SyncItem>(Type.Object({ kind: itemKinds }))),
  }),
);

export type SyncPayload = PayloadOf<typeof deskSyncKind>;

export const deskLane = (conversationId: string): string => `desk:${conversationId}`;

/**
 * Lanes for updates of shown items. They must not delay new items, nor each other, since platforms limit them
 * separately.
 */
const laterLanes = {
  card: (conversationId: string): string => `desk:later:${conversationId}`,
  changed: (conversationId: string): string => `desk:later:changed:${conversationId}`,
  reacted: (conversationId: string): string => `desk:later:reacted:${conversationId}`,
  fate: (conversationId: string): string => `desk:later:fate:${conversationId}`,
};

/** All lanes of a conversation at the desk. */
export const deskLanes = (conversationId: string): readonly string[] => [
  deskLane(conversationId),
  ...Object.values(laterLanes).map((laneOf) => laneOf(conversationId)),
];

/** An update of a shown item or of the card. */
export type ShownChange = Extract<SyncItem, { kind: "changed" | "reacted" | "fate" }> | { readonly kind: "card" };

/** A conversation after its transaction. */
export interface SyncSubject {
  readonly row: ConversationRow;
  readonly settings: WorkspaceSettings;
  readonly items: readonly SyncItem[];
  /** Shown at the desk regardless of the settings. */
  readonly isShownAtDesk: boolean;
}

/**
 * Queues the desk's work, in order. A conversation that was shown once stays up to date, so the work is queued even if
 * only the card changes.
 */
export async function syncWork(tx: Tx, changed: readonly SyncSubject[], now: number): Promise<readonly NewWork[]> {
  const subjects = changed.filter(({ settings }) => settings.desk !== null);
  if (subjects.length === 0) return [];
  const known = await syncedConversations(
    tx,
    subjects.map(({ row }) => row.id),
  );
  const fresh = subjects.filter((subject) => !known.has(subject.row.id) && belongs(subject));
  await insertThreads(
    tx,
    fresh.map(({ row }) => row),
    now,
  );
  return subjects
    .filter((subject) => known.has(subject.row.id) || fresh.includes(subject))
    .map(({ row, items }) => workOf(row.id, items, now));
}

const belongs = ({ row, settings, isShownAtDesk }: SyncSubject): boolean =>
  isShownAtDesk || row.status === "escalated" || settings.desk?.mirror === "every";

const workOf = (conversationId: string, items: readonly SyncItem[], now: number): NewWork =>
  deskSyncKind.queued(deskLane(conversationId), { conversationId, items }, now);

/** Queues an item that does not change the conversation itself. Null: the conversation has no thread at the desk. */
export async function syncAlso(
  tx: Tx,
  conversationId: string,
  items: readonly SyncItem[],
  now: number,
): Promise<NewWork | null> {
  const known = await syncedConversations(tx, [conversationId]);
  return known.has(conversationId) ? workOf(conversationId, items, now) : null;
}

/** Queues an update for later, followed by an update of the card. */
export async function syncLater(
  tx: Tx,
  { conversationId, change }: { readonly conversationId: string; readonly change: ShownChange },
  dueAt: number,
  now: number,
): Promise<void> {
  const lane = laterLanes[change.kind](conversationId);
  // The latest rate limit applies to all pending updates.
  await tx.updateTable("outbox").set({ due_at: dueAt }).where("lane", "=", lane).where("due_at", ">", dueAt).execute();
  if (change.kind === "card") {
    const queued = tx.selectFrom("outbox").select("id").where("lane", "=", lane).where("dead_at", "is", null);
    const waiting = await queued.limit(1).executeTakeFirst();
    if (waiting !== undefined) return;
  }
  const items = change.kind === "card" ? [] : [change];
  await insertWork(tx, [{ ...workOf(conversationId, items, now), lane, dueAt }], now);
}

/** Moves pending updates to the lane of new items, since an older card could otherwise replace a newer one. */
export async function syncNow(tx: Tx, payloads: readonly SyncPayload[], now: number): Promise<void> {
  for (const [conversationId, of] of Map.groupBy(payloads, (payload) => payload.conversationId)) {
    const items = of.flatMap((payload) => payload.items);
    await insertWork(tx, [workOf(conversationId, items, now)], now);
  }
}

const notesMax = 100;

/**
 * The newest notes of a conversation before its thread was opened, oldest first, except those that are queued as items.
 */
export async function notesBefore(db: Reader, conversationId: string): Promise<readonly string[]> {
  const notes = await db
    .selectFrom("notes")
    .select("id")
    .where("conversation_id", "=", conversationId)
    .orderBy("id", "desc")
    .limit(notesMax)
    .execute();
  if (notes.length === 0) return [];
  const lane = deskLane(conversationId);
  const works = await db.selectFrom("outbox").select("payload").where("lane", "=", lane).execute();
  const items = works.flatMap((work) => deskSyncKind.read(work).payload.items);
  const toCome = new Set(items.flatMap((item) => (item.kind === "note" ? [item.id] : [])));
  return notes
    .map(({ id }) => id)
    .filter((id) => !toCome.has(id))
    .toReversed();
}
