import type { Desk, DeskMessage } from "#channels/desk/contract.ts";
import { sizeText } from "#domain/files.ts";
import type { MessagesTable } from "#database/schema/tables.ts";
import type { AttachmentRow } from "#conversations/attachments/attachments.ts";
import { attachmentsOf } from "#conversations/attachments/attachments.ts";
import type { Store } from "#database/contract.ts";
import type { ThreadPosts } from "./posts.ts";

/** Newest files of messages before the thread began that are posted. Older ones are named only. */
const transcriptFilesMax = 20;

export interface FilePosts {
  /** Posts the message's files that are stored. The rest follow when they are fetched. */
  of(message: MessagesTable): Promise<void>;
  ofTranscript(messages: readonly MessagesTable[]): Promise<void>;
  one(row: AttachmentRow, message: MessagesTable): Promise<void>;
}

export interface FilePostsDependencies {
  readonly store: Store;
  readonly desk: Pick<Desk, "fileBytesMax">;
  readonly post: ThreadPosts["post"];
}

/** Posts files in a thread, one post each, below their message. */
export function createFilePosts({ store, desk, post }: FilePostsDependencies): FilePosts {
  async function one(row: AttachmentRow, message: MessagesTable): Promise<void> {
    if (row.state === "pending" || message.deleted_at !== null) return;
    const author: Pick<DeskMessage, "role" | "authorName"> = { role: message.role, authorName: message.author_name };
    if (row.state === "stored" && row.bytes !== null && row.bytes <= desk.fileBytesMax) {
      const { id, name, media_type: mediaType, bytes } = row;
      if (
        await post("file", message.id, { kind: "file", file: { id, name, mediaType, bytes }, of: author }, { name: id })
      )
        return;
    }
    const text =
      row.state === "failed"
        ? `The file ${row.name} is not here: ${row.reason ?? "it could not be fetched"}.`
        : `The file ${row.name} (${sizeText(row.bytes ?? 0)}) cannot be shown here; it is in the inbox.`;
    await post("event", row.id, { kind: "event", text }, { name: `${row.id}.no` });
  }

  return {
    one,
    async of(message) {
      for (const row of (await attachmentsOf(store.read, [message])).get(message.id) ?? []) await one(row, message);
    },
    async ofTranscript(messages) {
      const attachments = await attachmentsOf(store.read, messages);
      const all = messages.flatMap((message) => (attachments.get(message.id) ?? []).map((row) => ({ row, message })));
      for (const { row, message } of all.slice(-transcriptFilesMax)) await one(row, message);
    },
  };
}
