import { nameInConversation } from "#database/queries/agents.ts";
import { postsOf, setThread } from "#database/queries/desk.ts";
import type { ShownChange, SyncItem } from "#conversations/work/desk-sync-work.ts";
import { notesBefore } from "#conversations/work/desk-sync-work.ts";
import type { ThreadEdits } from "./edits.ts";
import { eventText } from "./event-text.ts";
import type { ThreadPosts } from "./posts.ts";
import { isWrittenIn } from "./posts.ts";
import { deskMessages, deskNote } from "./snapshot.ts";
import { createFilePosts } from "./file-posts.ts";
import type { DeskThread, SyncDependencies } from "./thread.ts";

/** Most messages that are posted when a thread begins. */
const transcriptMax = 200;

/** Runs an edit of a post, or queues it while the platform accepts no edits. */
export type OrLater = (change: ShownChange, run: () => Promise<void>) => Promise<void>;

/** Shows items of a conversation in its thread, in order. */
export interface ThreadItems {
  /** Posts messages that are older than these items and not posted yet. */
  catchUp(items: readonly SyncItem[]): Promise<void>;
  show(item: SyncItem): Promise<void>;
}

export function createThreadItems(
  { store }: SyncDependencies,
  place: DeskThread,
  { post }: ThreadPosts,
  edits: ThreadEdits,
  orLater: OrLater,
): ThreadItems {
  const { row, desk } = place;
  let shownSeq = place.thread.mirrored_seq;
  const isWrittenHere = isWrittenIn(place);
  const files = createFilePosts({ store, desk, post });

  const messagesAfter = (seq: number, upTo: number) =>
    store.read
      .selectFrom("messages")
      .selectAll()
      .where("conversation_id", "=", row.id)
      .where("seq", ">", seq)
      .where("seq", "<=", upTo)
      .orderBy("seq");

  async function storeShown(seq: number): Promise<void> {
    shownSeq = seq;
    await store.write((tx) => setThread(tx, row.id, { mirrored_seq: seq }));
  }

  /** A repeated transcript ends where the first try ended. Later messages would otherwise count as shown. */
  async function transcriptEnd(seqs: readonly number[]): Promise<number> {
    const posts = await postsOf(store.read, row.id, row.id);
    const begun = posts.find(({ kind }) => kind === "transcript")?.parked ?? null;
    if (begun !== null) return (JSON.parse(begun) as { readonly upTo: number }).upTo;
    return seqs.length === 0 ? row.last_seq : Math.max(...seqs);
  }

  /** Posts earlier notes before the thread counts as begun, so that interrupted work continues with them. */
  async function earlierNotes(): Promise<void> {
    for (const id of await notesBefore(store.read, row.id)) await note(id);
  }

  async function transcript(upTo: number): Promise<void> {
    const latest = await messagesAfter(upTo - transcriptMax, upTo).execute();
    const earlier = Math.max(0, upTo - transcriptMax);
    const item = { kind: "transcript", messages: await deskMessages(store.read, latest), earlier } as const;
    await post("transcript", row.id, item, { upTo });
    await files.ofTranscript(latest);
    await earlierNotes();
    await storeShown(upTo);
  }

  async function messages(upTo: number): Promise<void> {
    if (upTo <= shownSeq) return;
    for (const message of await messagesAfter(shownSeq, upTo).execute()) {
      const { id } = message;
      const posts = await postsOf(store.read, row.id, id);
      // A text written at the desk has a post already.
      if (!posts.some(isWrittenHere)) {
        for (const shown of await deskMessages(store.read, [message])) {
          await post("message", id, { kind: "message", message: shown });
        }
        await files.of(message);
      }
      if (shownSeq === 0) await earlierNotes();
      await storeShown(message.seq);
      if (message.role === "agent") await orLater({ kind: "fate", id }, () => edits.deliveryStatus(id));
    }
  }

  /** Posts a file that was stored after its message was posted. */
  async function file(id: string): Promise<void> {
    const attachment = await store.read.selectFrom("attachments").selectAll().where("id", "=", id).executeTakeFirst();
    const messageId = attachment?.message_id ?? null;
    if (attachment === undefined || messageId === null) return;
    const message = await store.read.selectFrom("messages").selectAll().where("id", "=", messageId).executeTakeFirst();
    // The file is posted with its message.
    if (message === undefined || message.seq > shownSeq) return;
    await files.one(attachment, message);
  }

  async function note(id: string): Promise<void> {
    const item = await deskNote(store.read, row, id);
    const posts = await postsOf(store.read, row.id, id);
    if (item !== undefined && !posts.some(isWrittenHere)) await post("note", id, item);
  }

  async function event(id: string): Promise<void> {
    const entry = await store.read.selectFrom("audit").selectAll().where("id", "=", id).executeTakeFirst();
    if (entry === undefined) return;
    const nameOfAgent = (email: string) => nameInConversation(store.read, row, email);
    await post("event", id, { kind: "event", text: await eventText(entry, nameOfAgent) });
  }

  return {
    async catchUp(items) {
      const seqs = items.flatMap((item) => (item.kind === "message" ? [item.seq] : []));
      if (shownSeq === 0) {
        const upTo = await transcriptEnd(seqs);
        if (upTo > 1) await transcript(upTo);
        // The card shows only the beginning of the message.
        else if (seqs.length === 0) await messages(upTo);
      } else if (seqs.length > 0) {
        await messages(Math.min(...seqs) - 1);
      }
    },
    async show(item) {
      switch (item.kind) {
        case "message":
          return messages(item.seq);
        case "note":
          return note(item.id);
        case "event":
          return event(item.id);
        case "file":
          return file(item.id);
        case "changed":
          return orLater(item, () => edits.changed(item.id, shownSeq));
        case "reacted":
          return orLater(item, () => edits.reacted(item.id, shownSeq));
        case "fate":
          return orLater(item, () => edits.deliveryStatus(item.id));
      }
    },
  };
}
