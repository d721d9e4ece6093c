import type { Reader, Tx } from "#database/contract.ts";
import { dialectOf } from "#database/dialects/dialect.ts";
import { lockConversation } from "#database/queries/conversations.ts";
import { insertWork } from "#database/queries/outbox.ts";
import { cleanFileName, filesPerMessage, plainMediaType } from "#domain/files.ts";
import { newId } from "#domain/ids.ts";
import { Problem } from "#domain/problem.ts";
import { FileTooLarge } from "#files/contract.ts";
import type { Log } from "#runtime/log.ts";
import { attachmentOf, dropAttachments } from "./attachments.ts";
import type { FileWorkDependencies } from "./remove-files.ts";
import { queueRemoval, wakeFor } from "./remove-files.ts";
import type { Upload, Uploaded } from "./upload.ts";
import { takeUploadQuota } from "./upload-quota.ts";

/**
 * Stores a file for a later message. The bytes are stored before the row, so that a row always has its bytes. Throws
 * Problem if the file is too large, or if there are more files than a message can have.
 */
export async function uploadFile(
  dependencies: FileWorkDependencies & { readonly log: Log },
  upload: Upload,
  source: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): Promise<Uploaded> {
  // Checked before the bytes are read, and again when they are stored, because uploads run at the same time.
  if (await isFull(dependencies.store.read, upload)) throw tooMany();
  const id = newId("file", dependencies.clock.now());
  const bytesMax = Math.min(upload.declaredBytes ?? Infinity, dependencies.files.bytesMax);
  const { address } = upload;
  const quota = address === undefined ? null : await takeUploadQuota(dependencies, { ...upload, address }, bytesMax);
  const max = quota?.bytesMax ?? bytesMax;
  let storedBytes = 0;
  try {
    const stored = await storeUpload(dependencies, { id, upload, max, bounded: true }, source, signal);
    storedBytes = stored.bytes;
    return stored;
  } catch (error) {
    if (!(error instanceof FileTooLarge)) throw error;
    if (quota !== null && max < bytesMax) throw quota.full(error);
    throw new Problem("payload_too_large", `file: ${error.message}`, { cause: error });
  } finally {
    await quota?.refund(storedBytes);
  }
}

/** Stores a file under this id. `bounded`: throws if there are more unsent files than a message can have. */
export async function storeUpload(
  { store, clock, files, publishEffects }: FileWorkDependencies,
  given: { readonly id: string; readonly upload: Upload; readonly max: number; readonly bounded: boolean },
  source: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): Promise<Uploaded> {
  const { id, upload, max, bounded } = given;
  const { workspaceId, accountId, conversationId, uploadedBy } = upload;
  const name = cleanFileName(upload.name);
  const stored = await files.store({ workspaceId, id }, source, plainMediaType(upload.mediaType), max, signal);
  const now = clock.now();
  const refused = await store.write(async (tx) => {
    const conversation = conversationId === null ? undefined : await lockConversation(tx, workspaceId, conversationId);
    if (conversationId === null) await lockAccount(tx, accountId);
    const workspace = await tx
      .selectFrom("workspaces")
      .select("deleted_at")
      .where("id", "=", workspaceId)
      .executeTakeFirst();
    const isGone = (conversationId !== null && conversation === undefined) || workspace?.deleted_at !== null;
    if (isGone || (bounded && (await isFull(tx, upload)))) {
      const works = await queueRemoval(tx, [{ id, workspace_id: workspaceId }], now);
      return { works, problem: isGone ? noConversation() : tooMany() };
    }
    await tx
      .insertInto("attachments")
      .values({
        id,
        workspace_id: workspaceId,
        account_id: accountId,
        conversation_id: conversationId,
        message_id: null,
        position: 0,
        name,
        media_type: stored.mediaType,
        bytes: stored.bytes,
        state: "stored",
        reason: null,
        ref: null,
        sha256: stored.sha256,
        uploaded_by: uploadedBy,
        group_key: null,
        created_at: now,
        stored_at: now,
      })
      .execute();
    return null;
  });
  if (refused !== null) {
    publishEffects(wakeFor(refused.works));
    throw refused.problem;
  }
  return { id, name, mediaType: stored.mediaType, bytes: stored.bytes };
}

/** Whether the uploader has as many unsent files as a message can have. Limits what an abuser can store. */
async function isFull(db: Reader | Tx, { accountId, conversationId, uploadedBy }: Upload): Promise<boolean> {
  let query = db
    .selectFrom("attachments")
    .select((eb) => eb.fn.countAll<string | number>().as("count"))
    .where("message_id", "is", null)
    .where("account_id", "=", accountId)
    .where("uploaded_by", "=", uploadedBy);
  if (conversationId !== null) query = query.where("conversation_id", "=", conversationId);
  const { count } = await query.executeTakeFirstOrThrow();
  return Number(count) >= filesPerMessage;
}

const tooMany = (): Problem =>
  new Problem("payload_too_large", `file: a message has at most ${filesPerMessage} files; send those first`);

const noConversation = (): Problem => new Problem("conversation_not_found", "there is no conversation with this id");

/** Serializes uploads before the first message, which have no conversation to lock. */
async function lockAccount(tx: Tx, id: string): Promise<void> {
  if (dialectOf(tx) !== "mysql") return;
  await tx.selectFrom("accounts").select("id").where("id", "=", id).forUpdate().execute();
}

/** Deletes an upload that was not sent. Idempotent. */
export async function dropUpload(
  { store, clock, publishEffects }: FileWorkDependencies,
  given: { readonly workspaceId: string; readonly uploadedBy: string; readonly id: string },
): Promise<void> {
  const effects = await store.write(async (tx) => {
    const row = await attachmentOf(tx, given.id);
    if (row === undefined || row.message_id !== null) return null;
    if (row.workspace_id !== given.workspaceId || row.uploaded_by !== given.uploadedBy) return null;
    const works = await dropAttachments(tx, [row], clock.now());
    await insertWork(tx, works, clock.now());
    return wakeFor(works);
  });
  publishEffects(effects);
}
