import type { DeskItem, DeskPart } from "#channels/desk/contract.ts";
import { DeliveryError } from "#channels/errors.ts";
import { storedBytes } from "#conversations/attachments/stored-bytes.ts";
import { postById, savePost } from "#database/queries/desk.ts";
import type { DeskPostsTable } from "#database/schema/desk.ts";
import type { DeskThread, LeaseHeld, SyncDependencies } from "./thread.ts";

/** Posts items in a thread, each part once. */
export interface ThreadPosts {
  /**
   * `refId` names the conversation's message, note, event or file. `name` is the key of the post, by default `refId`. `upTo`
   * is the last message of a transcript. False if the platform rejects a part.
   */
  post(
    kind: "message" | "transcript" | "note" | "event" | "file",
    refId: string,
    item: DeskItem,
    options?: { readonly name?: string; readonly upTo?: number },
  ): Promise<boolean>;
}

export function createThreadPosts(
  dependencies: SyncDependencies,
  place: DeskThread,
  threadId: string,
  held: LeaseHeld,
  signal: AbortSignal,
): ThreadPosts {
  const { store, clock, log } = dependencies;
  const { row, desk, accountId } = place;

  async function postPart(
    id: string,
    content: DeskPart,
    fields: Pick<DeskPostsTable, "kind" | "ref_id" | "part" | "parked">,
  ): Promise<boolean> {
    const context = {
      key: id,
      signal,
      file: (fileId: string) => storedBytes(dependencies, { conversation_id: row.id }, fileId),
    };
    const earlier = await postById(store.read, id);
    if (earlier !== undefined && earlier.state !== "sending") return earlier.state !== "failed";
    const begun: DeskPostsTable = {
      ...fields,
      id,
      conversation_id: row.id,
      account_id: accountId,
      direction: "out",
      state: "sending",
      external_id: null,
      mark: null,
      created_at: earlier?.created_at ?? clock.now(),
    };
    const found = earlier === undefined ? null : await desk.find({ thread: threadId }, context, earlier.created_at);
    if (found === null) await held((tx) => savePost(tx, begun));
    try {
      const externalId = found ?? (await desk.post(threadId, content, context));
      await store.write((tx) => savePost(tx, { ...begun, state: "posted", external_id: externalId }));
      return true;
    } catch (error) {
      if (error instanceof DeliveryError && error.outcome === "rejected") {
        const item = fields.ref_id;
        log.error({ err: error, conversation: row.id, item }, "desk: item refused, shown in the inbox only");
        await store.write((tx) => savePost(tx, { ...begun, state: "failed" }));
        return false;
      }
      if (error instanceof DeliveryError && error.outcome === "not_sent") {
        await held((tx) => tx.deleteFrom("desk_posts").where("id", "=", id).execute());
      }
      throw error;
    }
  }

  return {
    async post(kind, refId, item, { name = refId, upTo } = {}) {
      const parked = upTo === undefined ? null : JSON.stringify({ upTo });
      let accepted = true;
      for (const [part, content] of desk.render(item).entries()) {
        signal.throwIfAborted();
        // The time keeps keys of a new thread apart, because it shows everything again.
        const id = `${name}.${part}.${(place.thread.opened_at % 36 ** 6).toString(36)}`;
        accepted = (await postPart(id, content, { kind, ref_id: refId, part, parked })) && accepted;
      }
      return accepted;
    },
  };
}

/** True for posts that agents wrote in this thread and not in an earlier one. */
export const isWrittenIn =
  ({ thread }: DeskThread) =>
  ({ direction, created_at: at }: DeskPostsTable): boolean =>
    direction === "in" && at >= thread.opened_at;
