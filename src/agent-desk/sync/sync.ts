import { DeliveryError } from "#channels/errors.ts";
import type { DeskItem, DeskMark, DeskPart } from "#channels/desk/contract.ts";
import { ThreadGone } from "#channels/desk/errors.ts";
import { nameInConversation } from "#database/queries/agents.ts";
import { postById, postsOf, savePost, setThread } from "#database/queries/desk.ts";
import type { OutboxRow } from "#database/queries/outbox.ts";
import { LostLease, finishWork, holdWork } from "#database/queries/outbox.ts";
import type { DeliveryState } from "#database/schema/tables.ts";
import type { DeskPostsTable } from "#database/schema/desk.ts";
import { RetryLater } from "#conversations/delivery/retry-later.ts";
import { changedText, eventText } from "./event-text.ts";
import { storedBytes } from "#conversations/attachments/stored-bytes.ts";
import { startNewThread } from "#conversations/transaction/desk-erase-work.ts";
import { EditRateLimited, withEditLimit } from "./edit-limit.ts";
import { readsSo } from "#agent-desk/incoming/pending-edits.ts";
import { createFileShow } from "./sync-files.ts";
import type { StaleOverwrite } from "./stale-overwrite.ts";
import { createStaleOverwrite } from "./stale-overwrite.ts";
import type { SyncItem, SyncPayload, ShownChange } from "#conversations/transaction/desk-sync-work.ts";
import { deskLane, syncLater, syncNow, notesBefore } from "#conversations/transaction/desk-sync-work.ts";
import { deskMessages, deskNote } from "./snapshot.ts";
import type { LeaseHeld, SyncDependencies, DeskThread } from "./thread.ts";
import { beginThread, deskThreadOf, updateCard } from "./thread.ts";

/** Most messages that are posted when a thread begins. */
const transcriptMax = 200;

/**
 * Posts the changes of a conversation to its thread, in order and once each. A post is stored before its call and updated
 * after it, so that interrupted work continues: the next try asks the platform for posts that may have arrived.
 */
export async function syncDesk(
  dependencies: SyncDependencies,
  rows: readonly OutboxRow[],
  signal: AbortSignal,
): Promise<void> {
  const { store, clock } = dependencies;
  const payloads = rows.map((row) => ({ row, ...(JSON.parse(row.payload) as SyncPayload) }));
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
  const place = await deskThreadOf(dependencies, first.conversationId);
  if (place === undefined) {
    await store.write((tx) => finishWork(tx, rows));
    return;
  }
  // A process that lost its lease must not post, because another one does.
  const held: LeaseHeld = (work) =>
    store.write(async (tx) => {
      await holdWork(tx, last);
      await work(tx);
    });
  const changes = createStaleOverwrite(dependencies, last, first.conversationId);
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
    const show = createShow(dependencies, place, threadId, { held, orLater, changes }, signal);
    for (const { row, items } of payloads) {
      await show.upTo(items);
      for (const item of items) await show.item(item);
      if (row !== last) await store.write((tx) => finishWork(tx, [row]));
    }
    await orLater({ kind: "card" }, () => updateCard(dependencies, place, threadId, changes, signal));
    await store.write((tx) => finishWork(tx, [last]));
  } catch (error) {
    if (error instanceof LostLease) await changes.again();
    if (error instanceof ThreadGone) {
      dependencies.log.warn({ conversation: place.row.id }, "desk: thread is gone, starting another");
      await store.write((tx) => startNewThread(tx, place.row.id, dependencies.clock.now()));
      throw new RetryLater(error.message, undefined, error);
    }
    throw later(error);
  }
}

/** Runs an edit of a post, or queues it while the platform accepts no edits. */
type OrLater = (change: ShownChange, run: () => Promise<void>) => Promise<void>;

/** Makes any failure of a platform call a retry. */
export function later(error: unknown): unknown {
  return error instanceof DeliveryError ? new RetryLater(error.message, error.retryAfterMs, error) : error;
}

type SyncedKind = "message" | "transcript" | "note" | "event" | "file";

interface DeskView {
  /** Posts messages that are older than these items and not posted yet. */
  upTo(items: readonly SyncItem[]): Promise<void>;
  item(item: SyncItem): Promise<void>;
}

function createShow(
  dependencies: SyncDependencies,
  place: DeskThread,
  threadId: string,
  { held, orLater, changes }: { readonly held: LeaseHeld; readonly orLater: OrLater; readonly changes: StaleOverwrite },
  signal: AbortSignal,
): DeskView {
  const { store, clock, log } = dependencies;
  const { row, desk, accountId } = place;
  let shownSeq = place.thread.mirrored_seq;
  let transcriptTo = 0;
  const fileShow = createFileShow({ store, desk, post: postAs });

  /** Posts one item, part by part. `refId` names it. */
  const post = (kind: SyncedKind, refId: string, item: DeskItem): Promise<boolean> => postAs(kind, refId, refId, item);

  async function postAs(kind: SyncedKind, name: string, refId: string, item: DeskItem): Promise<boolean> {
    let taken = true;
    for (const [part, content] of desk.render(item).entries()) {
      signal.throwIfAborted();
      taken = (await postPart(kind, { name, refId, part }, content)) && taken;
    }
    return taken;
  }

  /** False if the platform rejects the part. */
  async function postPart(
    kind: SyncedKind,
    { name, refId, part }: { readonly name: string; readonly refId: string; readonly part: number },
    content: DeskPart,
  ): Promise<boolean> {
    // A new thread shows everything again, under other keys.
    const id = `${name}.${part}.${(place.thread.opened_at % 36 ** 6).toString(36)}`;
    const context = {
      key: id,
      signal,
      file: (shown: string) => storedBytes(dependencies, { conversation_id: row.id }, shown),
    };
    const known = await postById(store.read, id);
    if (known !== undefined && known.state !== "sending") return known.state !== "failed";
    const begun: DeskPostsTable = {
      id,
      conversation_id: row.id,
      account_id: accountId,
      direction: "out",
      kind,
      ref_id: refId,
      part,
      state: "sending",
      external_id: null,
      parked: kind === "transcript" ? JSON.stringify({ upTo: transcriptTo }) : null,
      mark: null,
      created_at: known?.created_at ?? clock.now(),
    };
    const found = known === undefined ? null : await desk.find(threadId, context, known.created_at);
    if (found === null) await held((tx) => savePost(tx, begun));
    try {
      const externalId = found ?? (await desk.post(threadId, content, context));
      await store.write((tx) => savePost(tx, { ...begun, state: "posted", external_id: externalId }));
      return true;
    } catch (error) {
      if (error instanceof DeliveryError && error.outcome === "rejected") {
        log.error({ err: error, conversation: row.id, shows: refId }, "desk: item refused, shown in the inbox only");
        await store.write((tx) => savePost(tx, { ...begun, state: "failed" }));
        return false;
      }
      if (error instanceof DeliveryError && error.outcome === "not_sent") {
        await held((tx) => tx.deleteFrom("desk_posts").where("id", "=", id).execute());
      }
      throw error;
    }
  }

  /** Whether the post was written in this thread and not in an earlier one. */
  const standsHere = ({ direction, created_at: at }: DeskPostsTable): boolean =>
    direction === "in" && at >= place.thread.opened_at;

  const messagesAfter = (seq: number, upTo: number) =>
    store.read
      .selectFrom("messages")
      .selectAll()
      .where("conversation_id", "=", row.id)
      .where("seq", ">", seq)
      .where("seq", "<=", upTo)
      .orderBy("seq");

  async function reached(seq: number): Promise<void> {
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
    transcriptTo = upTo;
    const said = await messagesAfter(upTo - transcriptMax, upTo).execute();
    const earlier = Math.max(0, upTo - transcriptMax);
    const item = { kind: "transcript", messages: await deskMessages(store.read, said), earlier } as const;
    await post("transcript", row.id, item);
    await fileShow.ofTranscript(said);
    await earlierNotes();
    await reached(upTo);
  }

  async function messages(upTo: number): Promise<void> {
    if (upTo <= shownSeq) return;
    for (const message of await messagesAfter(shownSeq, upTo).execute()) {
      const own = await postsOf(store.read, row.id, message.id);
      // A text written at the desk is there already.
      if (!own.some(standsHere)) {
        for (const shown of await deskMessages(store.read, [message])) {
          await post("message", message.id, { kind: "message", message: shown });
        }
        await fileShow.of(message);
      }
      if (shownSeq === 0) await earlierNotes();
      await reached(message.seq);
      const { id } = message;
      if (message.role === "agent") await orLater({ kind: "fate", id }, () => deliveryStatus(id));
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
    await fileShow.one(attachment, message);
  }

  async function note(id: string): Promise<void> {
    const item = await deskNote(store.read, row, id);
    const own = await postsOf(store.read, row.id, id);
    if (item !== undefined && !own.some(standsHere)) await post("note", id, item);
  }

  async function event(id: string): Promise<void> {
    const entry = await store.read.selectFrom("audit").selectAll().where("id", "=", id).executeTakeFirst();
    if (entry === undefined) return;
    const nameOfAgent = (email: string) => nameInConversation(store.read, row, email);
    await post("event", id, { kind: "event", text: await eventText(entry, nameOfAgent) });
  }

  /** Marks a reply with a tick when all parts are sent, or with a cross when one failed. */
  async function deliveryStatus(messageId: string): Promise<void> {
    const posts = (await postsOf(store.read, row.id, messageId)).filter(
      (each) => each.external_id !== null && each.kind !== "file" && (each.direction === "out" || standsHere(each)),
    );
    const shown = posts.at(-1);
    if (shown === undefined || shown.external_id === null) return;
    const deliveries = await store.read
      .selectFrom("deliveries")
      .select("state")
      .where("message_id", "=", messageId)
      .execute();
    const mark = markOf(deliveries.map(({ state }) => state));
    if (mark === null || mark === shown.mark) return;
    const { id, external_id: externalId } = shown;
    await withEditLimit(
      () => desk.mark(externalId, mark, { key: `${id}.mark`, signal }),
      (error) => log.debug({ err: error }, "desk: marking a reply failed"),
    );
    await store.write((tx) => tx.updateTable("desk_posts").set({ mark }).where("id", "=", shown.id).execute());
  }

  /** Edits the post of a changed message if it has one of its own; otherwise posts a text about the change. */
  async function changed(id: string): Promise<void> {
    const message = await store.read.selectFrom("messages").selectAll().where("id", "=", id).executeTakeFirst();
    if (message === undefined) return changedNote(id);
    if (message.seq > shownSeq) return;
    const all = await postsOf(store.read, row.id, id);
    if (message.deleted_at !== null) await takeBack(all.filter(({ kind }) => kind === "file"));
    const posts = all.filter(({ kind }) => kind !== "file");
    const own = posts.find(standsHere);
    // The change was made at the desk itself.
    if (own !== undefined && readsSo(own, message)) return;
    const [now] = await deskMessages(store.read, [message]);
    const parts = own !== undefined || now === undefined ? [] : desk.render({ kind: "message", message: now });
    const shown = posts.filter((each) => each.direction === "out" && each.external_id !== null);
    if (shown.length === parts.length && parts.length > 0) return changeTo(id, parts, shown);
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
    await changeTo(id, parts, shown);
    await takeBack(shown.slice(parts.length));
    if (item !== undefined) await post("note", id, item);
  }

  async function changeTo(id: string, parts: readonly DeskPart[], shown: readonly DeskPostsTable[]): Promise<void> {
    for (const [i, { id: shownAs, external_id: externalId }] of shown.slice(0, parts.length).entries()) {
      const part = parts[i];
      if (part === undefined || externalId === null) continue;
      await changes.begin({ kind: "changed", id });
      await quietly(() => desk.change(externalId, part, { key: `${shownAs}.change`, signal }));
    }
  }

  async function takeBack(posts: readonly DeskPostsTable[]): Promise<void> {
    for (const { id, external_id: externalId } of posts) {
      if (externalId !== null) await quietly(() => desk.remove(externalId, { key: `${id}.remove`, signal }));
      await store.write((tx) => tx.deleteFrom("desk_posts").where("id", "=", id).execute());
    }
  }

  const quietly = (run: () => Promise<void>): Promise<void> =>
    withEditLimit(run, (error) => log.warn({ err: error, conversation: row.id }, "desk: change refused"));

  return {
    async upTo(items) {
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
    async item(item) {
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
          return orLater(item, () => changed(item.id));
        case "fate":
          return orLater(item, () => deliveryStatus(item.id));
      }
    },
  };
}

function markOf(states: readonly DeliveryState[]): DeskMark | null {
  if (states.some((state) => state === "failed" || state === "unknown")) return "failed";
  return states.every((state) => state === "sent" || state === "delivered" || state === "read") ? "arrived" : null;
}
