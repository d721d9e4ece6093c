import type { Desk, DeskItem, DeskMessage } from "#channels/desk/contract.ts";
import { sizeText } from "#domain/files.ts";
import type { MessagesTable } from "#database/schema/tables.ts";
import type { AttachmentRow } from "#conversations/attachments/attachments.ts";
import { attachmentsOf } from "#conversations/attachments/attachments.ts";
import type { Store } from "#database/contract.ts";

/** Files of messages before there was a thread, the newest ones. The others are named. */
const transcriptFilesMax = 20;

export interface FileShow {
  /** What can be shown of the message's files by now; what is still fetched is shown when it is there. */
  of(message: MessagesTable): Promise<void>;
  ofTranscript(messages: readonly MessagesTable[]): Promise<void>;
  one(row: AttachmentRow, message: MessagesTable): Promise<void>;
}

export interface FileShowDependencies {
  readonly store: Store;
  readonly desk: Pick<Desk, "fileBytesMax">;
  /** Shows this once under this name; false where the desk refuses it for good. */
  readonly post: (kind: "file" | "event", name: string, refId: string, item: DeskItem) => Promise<boolean>;
}

/** Shows files in a thread, each as a post of its own, below the message that they came with. */
export function createFileShow({ store, desk, post }: FileShowDependencies): FileShow {
  async function one(row: AttachmentRow, message: MessagesTable): Promise<void> {
    if (row.state === "pending" || message.deleted_at !== null) return;
    const whose: Pick<DeskMessage, "role" | "authorName"> = { role: message.role, authorName: message.author_name };
    if (row.state === "stored" && row.bytes !== null && row.bytes <= desk.fileBytesMax) {
      const { id, name, media_type: mediaType, bytes } = row;
      if (await post("file", id, message.id, { kind: "file", file: { id, name, mediaType, bytes }, of: whose })) return;
    }
    const text =
      row.state === "failed"
        ? `The file ${row.name} is not here: ${row.reason ?? "it could not be fetched"}.`
        : `The file ${row.name} (${sizeText(row.bytes ?? 0)}) cannot be shown here; it is in the inbox.`;
    await post("event", `${row.id}.no`, row.id, { kind: "event", text });
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
