import type { DeskMark, DeskPart } from "#channels/desk/contract.ts";
import { readsSo } from "#agent-desk/incoming/pending-edits.ts";
import { reactionsOf } from "#conversations/references/stored-reactions.ts";
import type { SyncItem } from "#conversations/work/desk-sync-work.ts";
import type { Reader } from "#database/contract.ts";
import { postsOf } from "#database/queries/desk.ts";
import type { DeskPostsTable } from "#database/schema/desk.ts";
import { withEditLimit } from "./edit-limit.ts";
import { changedText, reactedText } from "./event-text.ts";
import type { ThreadPosts } from "./posts.ts";
import { isWrittenIn } from "./posts.ts";
import { deskMessages, deskNote } from "./snapshot.ts";
import type { OverwriteGuard } from "./overwrite-guard.ts";
import type { DeskThread, SyncDependencies } from "./thread.ts";

/** Edits posts of a thread. Every method throws EditRateLimited while the platform accepts no edits. */
export interface ThreadEdits {
  /** Marks a reply with a tick when all parts are sent, or with a cross when one failed. */
  deliveryStatus(messageId: string): Promise<void>;
  /**
   * Shows the change of a message up to `shownSeq`, or of a note: edits its post if that is ours, otherwise posts a text
   * about the change.
   */
  changed(id: string, shownSeq: number): Promise<void>;
  /** Shows customers' reactions to a message up to `shownSeq` in a line of their own, which later ones replace. */
  reacted(messageId: string, shownSeq: number): Promise<void>;
}

export function createThreadEdits(
  { store, log }: SyncDependencies,
  place: DeskThread,
  { post }: ThreadPosts,
  changes: OverwriteGuard,
  signal: AbortSignal,
): ThreadEdits {
  const { row, desk } = place;
  const isWrittenHere = isWrittenIn(place);

  async function changed(id: string, shownSeq: number): Promise<void> {
    const message = await store.read.selectFrom("messages").selectAll().where("id", "=", id).executeTakeFirst();
    if (message === undefined) return changedNote(id);
    if (message.seq > shownSeq) return;
    const all = await postsOf(store.read, row.id, id);
    if (message.deleted_at !== null) {
      const quoting = await postsOf(store.read, row.id, reactionLine(id));
      await removePosts([...all.filter(({ kind }) => kind === "file"), ...quoting]);
    }
    const posts = all.filter(({ kind }) => kind !== "file");
    const written = posts.find(isWrittenHere);
    // The change was made at the desk itself.
    if (written !== undefined && readsSo(written, message)) return;
    const [now] = await deskMessages(store.read, [message]);
    const parts = written !== undefined || now === undefined ? [] : desk.render({ kind: "message", message: now });
    const shown = posts.filter((each) => each.direction === "out" && each.external_id !== null);
    if (shown.length === parts.length && parts.length > 0) return editPosts({ kind: "changed", id }, parts, shown);
    const revision = message.deleted_at ?? message.edited_at ?? message.files ?? 0;
    const text = changedText(message, now?.files ?? []);
    await post("event", `${id}.${revision.toString(36)}`, { kind: "event", text });
  }

  /** A note that was written in this thread has no post of ours to edit. */
  async function changedNote(id: string): Promise<void> {
    const shown = (await postsOf(store.read, row.id, id)).filter(({ direction }) => direction === "out");
    if (shown.length === 0) return;
    const item = await deskNote(store.read, row, id);
    const parts = item === undefined ? [] : desk.render(item);
    await editPosts({ kind: "changed", id }, parts, shown);
    await removePosts(shown.slice(parts.length));
    if (item !== undefined) await post("note", id, item);
  }

  async function reacted(id: string, shownSeq: number): Promise<void> {
    const message = await store.read.selectFrom("messages").selectAll().where("id", "=", id).executeTakeFirst();
    if (message === undefined || message.seq > shownSeq) return;
    const given = (await reactionsOf(store.read, [message])).get(id) ?? [];
    const ofCustomers = given.filter(({ role }) => role === "user");
    const line = reactionLine(id);
    const shown = (await postsOf(store.read, row.id, line)).filter((each) => each.external_id !== null);
    if (ofCustomers.length === 0 && shown.length === 0) return;
    const item = { kind: "event", text: reactedText(message, ofCustomers) } as const;
    if (shown.length === 0) await post("event", line, item);
    else await editPosts({ kind: "reacted", id }, desk.render(item), shown);
  }

  async function editPosts(
    item: SyncItem,
    parts: readonly DeskPart[],
    shown: readonly DeskPostsTable[],
  ): Promise<void> {
    for (const [i, { id: shownAs, external_id: externalId }] of shown.slice(0, parts.length).entries()) {
      const part = parts[i];
      if (part === undefined || externalId === null) continue;
      await changes.begin(item);
      await tryEdit(() => desk.change(externalId, part, { key: `${shownAs}.change`, signal }));
    }
  }

  async function removePosts(posts: readonly DeskPostsTable[]): Promise<void> {
    for (const { id, external_id: externalId } of posts) {
      if (externalId !== null) await tryEdit(() => desk.remove(externalId, { key: `${id}.remove`, signal }));
      await store.write((tx) => tx.deleteFrom("desk_posts").where("id", "=", id).execute());
    }
  }

  const tryEdit = (run: () => Promise<void>): Promise<void> =>
    withEditLimit(run, (error) => log.warn({ err: error, conversation: row.id }, "desk: change refused"));

  return {
    changed,
    reacted,
    async deliveryStatus(messageId) {
      const posts = (await postsOf(store.read, row.id, messageId)).filter(
        (each) =>
          each.external_id !== null && each.kind !== "file" && (each.direction === "out" || isWrittenHere(each)),
      );
      const shown = posts.at(-1);
      if (shown === undefined || shown.external_id === null) return;
      const mark = await deliveryMark(store.read, messageId);
      if (mark === null || mark === shown.mark) return;
      const { id, external_id: externalId } = shown;
      await withEditLimit(
        () => desk.mark(externalId, mark, { key: `${id}.mark`, signal }),
        (error) => log.debug({ err: error }, "desk: marking a reply failed"),
      );
      await store.write((tx) => tx.updateTable("desk_posts").set({ mark }).where("id", "=", shown.id).execute());
    },
  };
}

/** Names the post about the reactions to a message. */
const reactionLine = (messageId: string): string => `reacted.${messageId}`;

async function deliveryMark(db: Reader, messageId: string): Promise<DeskMark | null> {
  const deliveries = await db.selectFrom("deliveries").select("state").where("message_id", "=", messageId).execute();
  const states = deliveries.map(({ state }) => state);
  if (states.some((state) => state === "failed" || state === "unknown")) return "failed";
  return states.every((state) => state === "sent" || state === "delivered" || state === "read") ? "arrived" : null;
}
