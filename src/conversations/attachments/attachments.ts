import { hash } from "node:crypto";
import { Type } from "typebox";
import { workKind } from "#database/work.ts";
import type { Insertable, Selectable } from "kysely";
import type { InboundEvent, InboundFile } from "#channels/contract.ts";
import { cleanFileName, filesPerMessage, plainMediaType, sizeText } from "#domain/files.ts";
import { newId } from "#domain/ids.ts";
import type { Channel } from "#domain/conversation/message.ts";
import { isChat } from "#channels/catalog.ts";
import { Problem } from "#domain/problem.ts";
import { chunks } from "#database/queries/customers.ts";
import type { NewWork } from "#database/queries/outbox.ts";
import type { AttachmentsTable } from "#database/schema/tables.ts";
import type { Files } from "#files/contract.ts";
import type { Reader, Tx } from "#database/contract.ts";

export type AttachmentRow = Selectable<AttachmentsTable>;

/** The fetch of a customer's file from the platform. */
export const fetchFileKind = workKind(
  "file",
  Type.Object({ fileId: Type.String(), conversationId: Type.Optional(Type.String()) }),
);

/** The removal of files whose rows are deleted. */
export const removeFilesKind = workKind(
  "unfile",
  Type.Object({ files: Type.Array(Type.Object({ workspaceId: Type.String(), id: Type.String() })) }),
);

export const fileLane = (id: string): string => `file:${id}`;

/** Platforms deliver the parts of an album within about a second. */
export const groupWaitMs = 1_500;

/** Lifetime of uploads that are never sent. */
export const draftMs = 86_400_000;

/** Files of a message: `fresh` ones must be fetched from the platform, `uploaded` ones are stored. */
export interface MessageFiles {
  readonly fresh: readonly AttachmentRow[];
  readonly uploaded: readonly AttachmentRow[];
}

export const noFiles: MessageFiles = { fresh: [], uploaded: [] };

const uploadedPattern = /^file_[0-9a-z]{26}$/;

/** Rows for the files of a customer's message. `uploads`: files uploaded before it, by id. */
export function filesOfEvent(
  given: readonly InboundFile[],
  of: {
    readonly workspaceId: string;
    readonly accountId: string;
    readonly thread: string;
    readonly group: string | null;
  },
  uploads: Map<string, AttachmentRow>,
  seal: Files["seal"],
  now: number,
): MessageFiles {
  const fresh: AttachmentRow[] = [];
  const uploaded: AttachmentRow[] = [];
  for (const [position, { ref, name, mediaType, bytes }] of given.slice(0, filesPerMessage).entries()) {
    const before = uploads.get(ref);
    if (isUploadOf(before, of.accountId, of.thread)) {
      // An upload belongs to one message. Another message that names it gets a file that cannot be fetched.
      uploads.delete(ref);
      uploaded.push({ ...before, position, group_key: of.group });
      continue;
    }
    fresh.push({
      id: newId("file", now),
      workspace_id: of.workspaceId,
      account_id: of.accountId,
      conversation_id: null,
      message_id: null,
      position,
      name: cleanFileName(name),
      media_type: plainMediaType(mediaType),
      bytes: bytes !== null && Number.isSafeInteger(bytes) && bytes >= 0 ? bytes : null,
      state: "pending",
      reason: null,
      ref: seal(ref.slice(0, 4_096)),
      sha256: null,
      uploaded_by: null,
      group_key: of.group,
      created_at: now,
      stored_at: null,
    });
  }
  return { fresh, uploaded };
}

function isUploadOf(row: AttachmentRow | undefined, accountId: string, thread: string): row is AttachmentRow {
  return row?.account_id === accountId && row.uploaded_by === thread;
}

/** In a chat, files are uploaded before their message; those that stay unsent are removed. */
export function namesGoneFile(
  event: InboundEvent,
  { id, channel }: { readonly id: string; readonly channel: Channel },
  uploads: ReadonlyMap<string, AttachmentRow>,
): boolean {
  if (!isChat(channel) || event.kind !== "message") return false;
  const refs = (event.files ?? []).slice(0, filesPerMessage).map(({ ref }) => ref);
  return refs.some((ref) => !isUploadOf(uploads.get(ref), id, event.thread));
}

/** A message that several events make up. */
export interface Grouped {
  readonly messageId: string;
  readonly conversationId: string;
  readonly seq: number;
  content: string;
  files: number;
  createdAt: number;
}

/** Stored key of a group. A hash, because the platform's key can be long. */
export const groupKey = (thread: string, key: string): string => hash("sha256", `${thread}\n${key}`);

/** The messages of these groups that are stored already, by account and group. */
export async function groupsOf(
  tx: Tx,
  requested: readonly { readonly accountId: string; readonly group: string }[],
): Promise<Map<string, Grouped>> {
  const found = new Map<string, Grouped>();
  for (const [accountId, of] of Map.groupBy(requested, (each) => each.accountId)) {
    const rows = await tx
      .selectFrom("attachments")
      .innerJoin("messages", "messages.id", "attachments.message_id")
      .select(["attachments.group_key", "messages.id", "messages.conversation_id", "messages.seq"])
      .select(["messages.content", "messages.files", "messages.created_at"])
      .where("attachments.account_id", "=", accountId)
      .where(
        "attachments.group_key",
        "in",
        of.map(({ group }) => group),
      )
      // If late text began a second message, the rest of the group joins that one.
      .orderBy("messages.seq")
      .execute();
    for (const row of rows) {
      found.set(`${accountId}\n${row.group_key}`, {
        messageId: row.id,
        conversationId: row.conversation_id,
        seq: row.seq,
        content: row.content,
        files: row.files ?? 0,
        createdAt: row.created_at,
      });
    }
  }
  return found;
}

/**
 * Stores files of a group that may turn out not to be for the bot. Without a message within a day they are deleted like
 * unsent uploads.
 */
export async function storeAside(tx: Tx, { fresh }: MessageFiles): Promise<void> {
  if (fresh.length > 0)
    await tx
      .insertInto("attachments")
      .values([...fresh])
      .execute();
}

/** Files of a message that begins a group, after the group's files that were stored aside. */
export async function withStoredAside(
  tx: Tx,
  accountId: string,
  group: string,
  files: MessageFiles,
): Promise<MessageFiles> {
  const aside = await tx
    .selectFrom("attachments")
    .selectAll()
    .where("account_id", "=", accountId)
    .where("group_key", "=", group)
    .where("message_id", "is", null)
    .orderBy("id")
    .execute();
  if (aside.length === 0) return files;
  await tx
    .deleteFrom("attachments")
    .where(
      "id",
      "in",
      aside.map(({ id }) => id),
    )
    .execute();
  const behind = (file: AttachmentRow): AttachmentRow => ({ ...file, position: file.position + aside.length });
  return {
    fresh: [...aside.map((file, position) => ({ ...file, position })), ...files.fresh.map(behind)],
    uploaded: files.uploaded.map(behind),
  };
}

/** Group key of files whose edit arrived before its message. */
const waitingKey = ({ thread, externalId }: WaitingFiles): string => groupKey(thread, `change ${externalId}`);

type WaitingFiles = Extract<InboundEvent, { kind: "edit" }>;

/** Stores the files of an edit that arrived before its message, because the stored event has no references to them. */
export async function storeWaitingFiles(tx: Tx, event: WaitingFiles, { fresh }: MessageFiles): Promise<void> {
  await storeAside(tx, { fresh: fresh.map((file) => ({ ...file, group_key: waitingKey(event) })), uploaded: [] });
}

/** Takes the requested files of such an edit, as far as they still exist. */
export async function takeWaitingFiles(
  tx: Tx,
  accountId: string,
  event: WaitingFiles,
  requested: readonly InboundFile[],
): Promise<MessageFiles> {
  if (requested.length === 0) return noFiles;
  const { fresh } = await withStoredAside(tx, accountId, waitingKey(event), noFiles);
  const positions = new Set(requested.map((file) => event.files?.indexOf(file)));
  const taken = fresh.filter(({ position }) => positions.has(position));
  return { fresh: taken.map((file, position) => ({ ...file, position, group_key: null })), uploaded: [] };
}

export const attachmentOf = (db: Reader | Tx, id: string) =>
  db.selectFrom("attachments").selectAll().where("id", "=", id).executeTakeFirst();

/** Returns uploads by the ids in these references. */
export async function uploadsOf(tx: Tx, refs: readonly string[]): Promise<Map<string, AttachmentRow>> {
  const ids = refs.filter((ref) => uploadedPattern.test(ref));
  if (ids.length === 0) return new Map();
  const rows = await tx
    .selectFrom("attachments")
    .selectAll()
    .where("id", "in", ids)
    .where("message_id", "is", null)
    .execute();
  return new Map(rows.map((row) => [row.id, row]));
}

/** Returns the agent's uploads for this conversation in the given order. Throws {@link Problem} for any other file. */
export async function uploadsForReply(
  tx: Tx,
  conversationId: string,
  ids: readonly string[],
  author: string,
  messageBytesMax: number,
): Promise<readonly AttachmentRow[]> {
  if (ids.length === 0) return [];
  if (ids.length > filesPerMessage) {
    throw new Problem("invalid_parameter", `files: a message has at most ${filesPerMessage}`);
  }
  const rows = await tx
    .selectFrom("attachments")
    .selectAll()
    .where("id", "in", [...ids])
    .where("conversation_id", "=", conversationId)
    .where("message_id", "is", null)
    .where("uploaded_by", "=", author)
    .execute();
  const byId = new Map(rows.map((row) => [row.id, row]));
  const found = [...new Set(ids)].map((id, position) => {
    const row = byId.get(id);
    if (row === undefined) {
      throw new Problem("invalid_parameter", "files: one of them is not there any more; upload it again");
    }
    return { ...row, position };
  });
  const total = found.reduce((sum, { bytes }) => sum + (bytes ?? 0), 0);
  if (total > messageBytesMax) {
    throw new Problem("payload_too_large", `files: together they are larger than ${sizeText(messageBytesMax)}`);
  }
  return found;
}

/** Stores the files of messages. */
export async function storeAttachments(
  tx: Tx,
  fresh: readonly Insertable<AttachmentsTable>[],
  uploaded: readonly AttachmentRow[],
): Promise<void> {
  if (fresh.length > 0) await tx.insertInto("attachments").values(fresh).execute();
  for (const { id, conversation_id, message_id, position, group_key } of uploaded) {
    const { numUpdatedRows } = await tx
      .updateTable("attachments")
      .set({ conversation_id, message_id, position, group_key })
      .where("id", "=", id)
      .where("message_id", "is", null)
      .executeTakeFirst();
    if (numUpdatedRows !== 1n) {
      throw new Problem("invalid_parameter", "files: one of them is not there any more; upload it again");
    }
  }
}

/** Returns files by message. Reads nothing if no message has files. */
export async function attachmentsOf(
  db: Reader | Tx,
  messages: readonly { readonly id: string; readonly files: number | null }[],
): Promise<ReadonlyMap<string, readonly AttachmentRow[]>> {
  const ids = messages.filter(({ files }) => files !== null && files > 0).map(({ id }) => id);
  if (ids.length === 0) return new Map();
  const rows: AttachmentRow[] = [];
  for (const some of chunks(ids)) {
    rows.push(...(await db.selectFrom("attachments").selectAll().where("message_id", "in", some).execute()));
  }
  rows.sort((a, b) => a.position - b.position);
  return Map.groupBy(rows, (row) => row.message_id ?? "");
}

/** Work that deletes the bytes of rows which this transaction deletes. */
export function removalOf(
  rows: readonly Pick<AttachmentRow, "id" | "workspace_id">[],
  now: number,
): readonly NewWork[] {
  return [...chunks(rows, 100)].map((some) => {
    const files = some.map(({ id, workspace_id: workspaceId }) => ({ workspaceId, id }));
    return removeFilesKind.queued(`unfile:${some[0]?.id ?? ""}`, { files }, now);
  });
}

/** Deletes attachments. Returns the work that deletes their bytes. */
export async function dropAttachments(
  tx: Tx,
  rows: readonly Pick<AttachmentRow, "id" | "workspace_id">[],
  now: number,
): Promise<readonly NewWork[]> {
  for (const some of chunks(rows)) {
    const ids = some.map(({ id }) => id);
    await tx.deleteFrom("outbox").where("lane", "in", ids.map(fileLane)).execute();
    await tx.deleteFrom("attachments").where("id", "in", ids).execute();
  }
  return removalOf(rows, now);
}
