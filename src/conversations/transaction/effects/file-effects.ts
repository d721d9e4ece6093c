import type { NewWork } from "#database/queries/outbox.ts";
import type { MessagesTable } from "#database/schema/tables.ts";
import type { AttachmentRow, Grouped, MessageFiles } from "#conversations/attachments/attachments.ts";
import { fetchFileKind, fileLane, noFiles, storeAttachments } from "#conversations/attachments/attachments.ts";
import type { Tx } from "#database/contract.ts";

/** Collects the files of a transaction's messages, and the work that fetches them. */
export interface FileEffects {
  /**
   * Adds a new message's files. Returns their list, in order; files that join later in the transaction are appended to
   * it.
   */
  begin(message: MessagesTable, files?: MessageFiles): readonly AttachmentRow[];
  /** Adds files to a message. `here`: the message's row, if it is not in the table yet. */
  join(message: Grouped, content: string, files: MessageFiles, here: MessagesTable | undefined): void;
  /** Called when a stored message has a new text, or (null) was deleted with all its parts. */
  rewrite(messageId: string, content: string | null): void;
  /** Called when the customer deleted a message that is not written yet: its files are neither fetched nor shown. */
  withdraw(message: MessagesTable): void;
  write(tx: Tx): Promise<void>;
}

export function createFileEffects(works: NewWork[], now: number): FileEffects {
  /** Stored messages with added files. Several events may each have read an earlier state of a message. */
  const joined = new Map<string, Grouped>();
  const fresh: AttachmentRow[] = [];
  const uploaded: AttachmentRow[] = [];
  /** Files named in the events of new messages. */
  const inEvents = new Map<string, AttachmentRow[]>();

  function add(messageId: string, conversationId: string, behind: number, files: MessageFiles): AttachmentRow[] {
    const ofMessage = (file: AttachmentRow): AttachmentRow => ({
      ...file,
      conversation_id: conversationId,
      message_id: messageId,
      position: behind + file.position,
    });
    const added = files.fresh.map(ofMessage);
    const known = files.uploaded.map(ofMessage);
    fresh.push(...added);
    uploaded.push(...known);
    for (const { id } of added) {
      works.push(fetchFileKind.queued(fileLane(id), { fileId: id, conversationId }, now));
    }
    return [...added, ...known];
  }

  function withdraw(messageId: string): void {
    const isOf = ({ message_id: id }: AttachmentRow): boolean => id === messageId;
    const lanes = new Set(fresh.filter(isOf).map(({ id }) => fileLane(id)));
    for (const rows of [fresh, uploaded]) rows.splice(0, rows.length, ...rows.filter((row) => !isOf(row)));
    works.splice(0, works.length, ...works.filter(({ lane }) => !lanes.has(lane)));
  }

  return {
    begin({ id, conversation_id: conversationId }, files = noFiles) {
      const all = add(id, conversationId, 0, files).toSorted((a, b) => a.position - b.position);
      inEvents.set(id, all);
      return all;
    },
    join(message, content, files, here) {
      const { messageId, conversationId } = message;
      const had = here === undefined ? (joined.get(messageId)?.files ?? message.files) : (here.files ?? 0);
      const added = add(messageId, conversationId, had, files);
      message.files = had + added.length;
      message.content = content;
      if (here === undefined) joined.set(messageId, message);
      else Object.assign(here, { content, files: message.files });
      inEvents.get(messageId)?.push(...added);
    },
    rewrite(messageId, content) {
      const message = joined.get(messageId);
      if (message === undefined) return;
      if (content !== null) {
        message.content = content;
        return;
      }
      joined.delete(messageId);
      withdraw(messageId);
    },
    withdraw(message) {
      withdraw(message.id);
      message.files = null;
      inEvents.get(message.id)?.splice(0);
    },
    async write(tx) {
      for (const { messageId, content, files } of joined.values()) {
        await tx.updateTable("messages").set({ content, files }).where("id", "=", messageId).execute();
      }
      await storeAttachments(tx, fresh, uploaded);
    },
  };
}
