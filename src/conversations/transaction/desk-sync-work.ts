import type { WorkspaceSettings } from "#domain/workspace/settings.ts";
import type { ConversationRow } from "#database/queries/conversations.ts";
import { insertThreads, syncedConversations } from "#database/queries/desk.ts";
import type { NewWork } from "#database/queries/outbox.ts";
import { insertWork } from "#database/queries/outbox.ts";
import type { Reader, Tx } from "#database/contract.ts";

/** What is to be shown in a conversation's thread at the desk. The texts are read when it is. */
export type SyncItem =
  | { readonly kind: "message"; readonly seq: number }
  | { readonly kind: "note"; readonly id: string }
  /** An entry of the audit log. */
  | { readonly kind: "event"; readonly id: string }
  /** A file of a message is stored, or will never be. */
  | { readonly kind: "file"; readonly id: string }
  /** The text of a message or a note was changed or taken back. */
  | { readonly kind: "changed"; readonly id: string }
  /** The fate of a reply may be known. */
  | { readonly kind: "fate"; readonly id: string };

export interface SyncPayload {
  readonly conversationId: string;
  readonly items: readonly SyncItem[];
}

export const deskLane = (conversationId: string): string => `desk:${conversationId}`;

/**
 * Where waits what changes things that are shown: it must not hold up what is still to be shown, nor what platforms limit
 * apart from it.
 */
const laterLanes = {
  card: (conversationId: string): string => `desk:later:${conversationId}`,
  changed: (conversationId: string): string => `desk:later:changed:${conversationId}`,
  fate: (conversationId: string): string => `desk:later:fate:${conversationId}`,
};

/** All lanes of a conversation at the desk. */
export const deskLanes = (conversationId: string): readonly string[] => [
  deskLane(conversationId),
  ...Object.values(laterLanes).map((laneOf) => laneOf(conversationId)),
];

/** A change of what is shown: of an item, or of the card. */
export type ShownChange = Extract<SyncItem, { kind: "changed" | "fate" }> | { readonly kind: "card" };

/** A conversation as a transaction leaves it. */
export interface SyncSubject {
  readonly row: ConversationRow;
  readonly settings: WorkspaceSettings;
  readonly items: readonly SyncItem[];
  /** Wanted at the desk whatever the settings say. */
  readonly isShownAtDesk: boolean;
}

/**
 * The work of showing this at the desk, in the order in which it happened. Whatever happens in a conversation that was
 * shown once is shown, so the work is stored even where nothing but the card changes.
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

function workOf(conversationId: string, items: readonly SyncItem[], now: number): NewWork {
  return {
    lane: deskLane(conversationId),
    kind: "desk",
    payload: { conversationId, items } satisfies SyncPayload,
    dueAt: now,
  };
}

/** The same for what is no change of the conversation itself. Null where it is not shown at a desk. */
export async function syncAlso(
  tx: Tx,
  conversationId: string,
  items: readonly SyncItem[],
  now: number,
): Promise<NewWork | null> {
  const known = await syncedConversations(tx, [conversationId]);
  return known.has(conversationId) ? workOf(conversationId, items, now) : null;
}

/** Does this later, and brings the card up to date then. */
export async function syncLater(
  tx: Tx,
  { conversationId, change }: { readonly conversationId: string; readonly change: ShownChange },
  dueAt: number,
  now: number,
): Promise<void> {
  const lane = laterLanes[change.kind](conversationId);
  // The newest word of a limit counts for all that waits for it.
  await tx.updateTable("outbox").set({ due_at: dueAt }).where("lane", "=", lane).where("due_at", ">", dueAt).execute();
  if (change.kind === "card") {
    const waiting = await tx.selectFrom("outbox").select("id").where("lane", "=", lane).limit(1).executeTakeFirst();
    if (waiting !== undefined) return;
  }
  const items = change.kind === "card" ? [] : [change];
  await insertWork(tx, [{ ...workOf(conversationId, items, now), lane, dueAt }], now);
}

/** What waited goes on in the lane of what is shown: two at a time would show an old card over a new one. */
export async function syncNow(tx: Tx, payloads: readonly SyncPayload[], now: number): Promise<void> {
  for (const [conversationId, of] of Map.groupBy(payloads, (payload) => payload.conversationId)) {
    const items = of.flatMap((payload) => payload.items);
    await insertWork(tx, [workOf(conversationId, items, now)], now);
  }
}

const notesMax = 100;

/** The newest notes of a conversation whose thread is begun, oldest first, without those that are to be shown in their turn. */
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
  const items = works.flatMap(({ payload }) => (JSON.parse(payload) as SyncPayload).items);
  const toCome = new Set(items.flatMap((item) => (item.kind === "note" ? [item.id] : [])));
  return notes
    .map(({ id }) => id)
    .filter((id) => !toCome.has(id))
    .toReversed();
}
