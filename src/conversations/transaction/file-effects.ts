import type { NewWork } from "#database/queries/outbox.ts";
import type { MessagesTable } from "#database/schema/tables.ts";
import type { AttachmentRow, Grouped, MessageFiles } from "#conversations/attachments/attachments.ts";
import { fileLane, noFiles, storeAttachments } from "#conversations/attachments/attachments.ts";
import type { Tx } from "#database/contract.ts";

/** The files that the messages of one transaction bring, gathered with the work of fetching them. */
export interface FileEffects {
  /** Those of a new message, in their order; what joins it later in the transaction is added to the same list. */
  begin(message: MessagesTable, files?: MessageFiles): readonly AttachmentRow[];
  /** Adds to a message; `here`: its row, where the table does not have it yet. */
  join(message: Grouped, content: string, files: MessageFiles, here: MessagesTable | undefined): void;
  /** The words of a stored message are others by now, or (null) it was taken back with all that has joined it. */
  rewrite(messageId: string, content: string | null): void;
  /** The customer took back a message that is not written yet: its files are not fetched, and not shown. */
  withdraw(message: MessagesTable): void;
  write(tx: Tx): Promise<void>;
}

export function createFileEffects(works: NewWork[], now: number): FileEffects {
  /** Stored messages that were joined; several events can each have read what it was before. */
  const joined = new Map<string, Grouped>();
  const fresh: AttachmentRow[] = [];
  const uploaded: AttachmentRow[] = [];
  /** The files that events of new messages name. */
  const told = new Map<string, AttachmentRow[]>();

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
      works.push({ lane: fileLane(id), kind: "file", payload: { fileId: id, conversationId }, dueAt: now });
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
      told.set(id, all);
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
      told.get(messageId)?.push(...added);
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
      told.get(message.id)?.splice(0);
    },
    async write(tx) {
      for (const { messageId, content, files } of joined.values()) {
        await tx.updateTable("messages").set({ content, files }).where("id", "=", messageId).execute();
      }
      await storeAttachments(tx, fresh, uploaded);
    },
  };
}
