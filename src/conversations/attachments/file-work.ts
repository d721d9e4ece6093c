import { DeliveryError } from "#channels/errors.ts";
import { cleanFileName, filesPerMessage, plainMediaType, sizeText } from "#domain/files.ts";
import { newId } from "#domain/ids.ts";
import { chatChannels } from "#domain/conversation/message.ts";
import { Problem } from "#domain/problem.ts";
import { lockConversation } from "#database/queries/conversations.ts";
import { dialectOf } from "#database/dialects/dialect.ts";
import type { NewWork, OutboxRow } from "#database/queries/outbox.ts";
import { finishWork, insertWork } from "#database/queries/outbox.ts";
import type { AttachmentRow } from "./attachments.ts";
import { draftMs, dropAttachments, removalOf } from "./attachments.ts";
import type { Effects } from "#conversations/transaction/effects.ts";
import type { Checkpoint } from "#runtime/checkpoints.ts";
import { syncAlso } from "#conversations/transaction/desk-sync-work.ts";
import { RetryLater } from "#conversations/delivery/retry-later.ts";
import type { Upload, Uploaded } from "./upload.ts";
import type { Channels } from "#channels/channels.ts";
import type { Clock } from "#runtime/clock.ts";
import type { FileName, Files } from "#files/contract.ts";
import type { Log } from "#runtime/log.ts";
import type { Reader, Store, Tx } from "#database/contract.ts";
import { FileTooLarge, isStorageFull } from "#files/contract.ts";
import { takeUploadQuota } from "./upload-quota.ts";

export interface FileWorkDependencies {
  readonly store: Store;
  readonly clock: Clock;
  readonly files: Files;
  readonly publishEffects: (effects: Effects | null) => void;
}

interface FetchDependencies extends FileWorkDependencies {
  readonly channels: Channels;
  readonly checkpoint: Checkpoint;
}

/** A platform that sends nothing for so long is asked again. */
const fetchMs = 120_000;

const rowOf = (db: Tx | Store["read"], id: string) =>
  db.selectFrom("attachments").selectAll().where("id", "=", id).executeTakeFirst();

/**
 * Fetches a file that a customer sent. The bytes are stored before the row says so, under a name that is the same on each
 * try: what was interrupted is begun again, and what nobody finishes belongs to no row and is swept.
 */
export async function fetchFile(dependencies: FetchDependencies, work: OutboxRow, signal: AbortSignal): Promise<void> {
  const { store, clock, files, channels, checkpoint, publishEffects } = dependencies;
  const { fileId } = JSON.parse(work.payload) as { readonly fileId: string };
  const row = await rowOf(store.read, fileId);
  if (row === undefined || row.state !== "pending" || row.ref === null) {
    await store.write((tx) => finishWork(tx, [work]));
    return;
  }
  const name = { workspaceId: row.workspace_id, id: row.id };
  const limited = AbortSignal.any([signal, AbortSignal.timeout(fetchMs)]);
  let stored: Awaited<ReturnType<Files["store"]>>;
  try {
    const left = files.messageBytesMax - (await bytesBeside(store.read, row));
    if (row.bytes !== null && row.bytes > files.bytesMax) throw new FileTooLarge(files.bytesMax);
    if (left <= 0 || (row.bytes !== null && row.bytes > left)) throw overTotal(files);
    // Before the platform is asked: it would send for nothing.
    await files.requireRoom(Math.min(row.bytes ?? Infinity, files.bytesMax));
    const account = { id: row.account_id };
    await channels.ready(account);
    const source = channels.fetchFile(account, files.unseal(row.ref), limited);
    if (source === undefined) throw new DeliveryError("rejected", "files cannot be fetched from this channel");
    try {
      stored = await files.store(name, await source, row.media_type, left, limited);
    } catch (error) {
      throw error instanceof FileTooLarge && left < files.bytesMax ? overTotal(files) : error;
    }
  } catch (error) {
    signal.throwIfAborted();
    if (isStorageFull(error)) {
      await noteStorageFull(dependencies, row);
      throw new RetryLater(noRoom, noRoomRetryMs, error);
    }
    const message = error instanceof Error ? error.message : "it could not be fetched";
    const final = error instanceof FileTooLarge || (error instanceof DeliveryError && error.outcome === "rejected");
    if (!final) {
      throw new RetryLater(message, error instanceof DeliveryError ? error.retryAfterMs : undefined, error);
    }
    publishEffects(
      await store.write(async (tx) => {
        await finishWork(tx, [work]);
        return failFile(tx, row.id, message, clock.now());
      }),
    );
    return;
  }
  checkpoint("file.stored");
  publishEffects(
    await store.write(async (tx) => {
      // Fails when the work was withdrawn with its conversation; what was just stored then belongs to nothing.
      const still = await rowOf(tx, row.id);
      if (still === undefined) return wakeFor(await queueRemoval(tx, [row], clock.now()));
      await finishWork(tx, [work]);
      // Files of one message are fetched at the same time: who is stored first counts for the others.
      await lockMessage(tx, row.message_id);
      if ((await bytesBeside(tx, row)) + stored.bytes > files.messageBytesMax) {
        const works = await queueRemoval(tx, [row], clock.now());
        const effects = await failFile(tx, row.id, overTotal(files).message, clock.now());
        return effects === null ? null : { ...effects, wake: [...effects.wake, ...works] };
      }
      await tx
        .updateTable("attachments")
        .set({
          state: "stored",
          bytes: stored.bytes,
          sha256: stored.sha256,
          media_type: stored.mediaType,
          ref: null,
          reason: null,
          stored_at: clock.now(),
        })
        .where("id", "=", row.id)
        .execute();
      return effectsOf(tx, row, clock.now());
    }),
  );
}

/** Kept on the file that waits for it, and shown to agents. */
const noRoom = "the disk is nearly full; it is fetched when there is room";
const noRoomRetryMs = 60_000;
/** Platforms keep their files for days; a full disk is noticed before that, or not at all. */
const noRoomMs = 7 * 86_400_000;

/** Whether fetching a file goes on however often it failed: there is no room on the disk. */
export function waitsForRoom(work: Pick<OutboxRow, "created_at">, error: unknown, now: number): boolean {
  return error instanceof RetryLater && isStorageFull(error.cause) && now - work.created_at < noRoomMs;
}

async function noteStorageFull({ store, clock, publishEffects }: FetchDependencies, row: AttachmentRow): Promise<void> {
  if (row.reason === noRoom) return;
  publishEffects(
    await store.write(async (tx) => {
      await tx
        .updateTable("attachments")
        .set({ reason: noRoom })
        .where("id", "=", row.id)
        .where("state", "=", "pending")
        .execute();
      return effectsOf(tx, row, clock.now());
    }),
  );
}

const overTotal = (files: Files): DeliveryError =>
  new DeliveryError(
    "rejected",
    `with the message's other files it is more than ${sizeText(files.messageBytesMax)}, which is the most that is taken`,
  );

async function lockMessage(tx: Tx, id: string | null): Promise<void> {
  if (dialectOf(tx) !== "mysql") return;
  await tx.selectFrom("messages").select("id").where("id", "=", id).forUpdate().execute();
}

/** What was stored belongs to nobody. */
async function queueRemoval(
  tx: Tx,
  rows: readonly Pick<AttachmentRow, "id" | "workspace_id">[],
  now: number,
): Promise<readonly NewWork[]> {
  const works = removalOf(rows, now);
  await insertWork(tx, works, now);
  return works;
}

const wakeFor = (wake: readonly NewWork[]): Effects => ({ wake, threads: [], workspaces: [] });

/** What the message's other files have taken already. */
async function bytesBeside(db: Reader | Tx, { id, message_id: messageId }: AttachmentRow): Promise<number> {
  const { sum } = await db
    .selectFrom("attachments")
    .select((eb) => eb.fn.sum<string | number | null>("bytes").as("sum"))
    .where("message_id", "=", messageId)
    .where("state", "=", "stored")
    .where("id", "!=", id)
    .executeTakeFirstOrThrow();
  return Number(sum ?? 0);
}

/** What is stored when a file was asked for as often as it may be. */
export async function abandonFile(tx: Tx, work: OutboxRow, reason: string, now: number): Promise<Effects | null> {
  const { fileId } = JSON.parse(work.payload) as { readonly fileId: string };
  return failFile(tx, fileId, `it could not be fetched: ${reason}`, now);
}

async function failFile(tx: Tx, id: string, reason: string, now: number): Promise<Effects | null> {
  const row = await rowOf(tx, id);
  if (row === undefined || row.state !== "pending") return null;
  await tx
    .updateTable("attachments")
    .set({ state: "failed", reason: reason.slice(0, 500), ref: null })
    .where("id", "=", id)
    .execute();
  return effectsOf(tx, row, now);
}

/** Whoever looks at the conversation looks again, and the desk shows what became of the file. */
async function effectsOf(tx: Tx, { id: file, conversation_id: id }: AttachmentRow, now: number): Promise<Effects> {
  const row =
    id === null
      ? undefined
      : await tx
          .selectFrom("conversations")
          .select(["id", "workspace_id", "account_id", "context_key"])
          .where("id", "=", id)
          .executeTakeFirst();
  if (row === undefined) return { wake: [], threads: [], workspaces: [] };
  const shown = await syncAlso(tx, row.id, [{ kind: "file", id: file }], now);
  if (shown !== null) await insertWork(tx, [shown], now);
  return {
    wake: shown === null ? [] : [shown],
    threads: [{ accountId: row.account_id, contextKey: row.context_key }],
    workspaces: [{ workspaceId: row.workspace_id, conversationId: row.id }],
  };
}

/** Removes bytes whose rows are gone. Removing twice is removing. */
export async function removeFiles(
  { store, files }: Pick<FileWorkDependencies, "store" | "files">,
  works: readonly OutboxRow[],
  signal: AbortSignal,
): Promise<void> {
  for (const work of works) {
    const { files: names } = JSON.parse(work.payload) as { readonly files: readonly FileName[] };
    for (const name of names) {
      signal.throwIfAborted();
      await files.remove(name);
    }
    await store.write((tx) => finishWork(tx, [work]));
  }
}

/**
 * Stores a file for a message to come. The bytes come first: a row always has its bytes. Throws Problem for what is too
 * large, or more than a message can have.
 */
export async function uploadFile(
  dependencies: FileWorkDependencies & { readonly log: Log },
  upload: Upload,
  source: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): Promise<Uploaded> {
  // Before the bytes are taken, and again when they are stored: several may come at the same time.
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

/** The row of an upload that is stored. */
export const uploadOf = (db: Store["read"], id: string) => rowOf(db, id);

/** Stores a file under this id. `bounded`: not more of them than a message can have. */
export async function storeUpload(
  { store, clock, files, publishEffects }: FileWorkDependencies,
  given: { readonly id: string; readonly upload: Upload; readonly max: number; readonly bounded: boolean },
  source: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): Promise<Uploaded> {
  const { id, upload, max, bounded } = given;
  const { workspaceId, accountId, conversationId, uploadedBy } = upload;
  const name = cleanFileName(upload.name);
  const wanted = { workspaceId, id };
  const stored = await files.store(wanted, source, plainMediaType(upload.mediaType), max, signal);
  const now = clock.now();
  const refused = await store.write(async (tx) => {
    const conversation = conversationId === null ? undefined : await lockConversation(tx, workspaceId, conversationId);
    if (conversationId === null) await lockAccount(tx, accountId);
    const gone = await tx
      .selectFrom("workspaces")
      .select("deleted_at")
      .where("id", "=", workspaceId)
      .executeTakeFirst();
    const isGone = (conversationId !== null && conversation === undefined) || gone?.deleted_at !== null;
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

/** Somebody who uploads and never sends must not fill the disk. */
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

/** Visitors' uploads before their first message are counted one after the other. */
async function lockAccount(tx: Tx, id: string): Promise<void> {
  if (dialectOf(tx) !== "mysql") return;
  await tx.selectFrom("accounts").select("id").where("id", "=", id).forUpdate().execute();
}

/** Takes back an upload that was not sent. Idempotent. */
export async function dropUpload(
  { store, clock, publishEffects }: FileWorkDependencies,
  given: { readonly workspaceId: string; readonly uploadedBy: string; readonly id: string },
): Promise<void> {
  const effects = await store.write(async (tx) => {
    const row = await rowOf(tx, given.id);
    if (row === undefined || row.message_id !== null) return null;
    if (row.workspace_id !== given.workspaceId || row.uploaded_by !== given.uploadedBy) return null;
    const works = await dropAttachments(tx, [row], clock.now());
    await insertWork(tx, works, clock.now());
    return wakeFor(works);
  });
  publishEffects(effects);
}

const sweptAtOnce = 200;

/** A visitor who has not sent a file for so long has left. */
const unsentMs = 3_600_000;

/** Removes what visitors uploaded in a chat and did not send. */
export async function removeUnsentUploads({
  store,
  clock,
  publishEffects,
}: Pick<FileWorkDependencies, "store" | "clock" | "publishEffects">): Promise<void> {
  for (;;) {
    const now = clock.now();
    const removed = await store.write(async (tx) => {
      const old = await tx
        .selectFrom("attachments")
        .innerJoin("accounts", "accounts.id", "attachments.account_id")
        .select(["attachments.id", "attachments.workspace_id"])
        .where("attachments.message_id", "is", null)
        .where("attachments.state", "=", "stored")
        .where("attachments.created_at", "<", now - unsentMs)
        .where("accounts.channel", "in", chatChannels)
        // An agent's is a draft, and kept longer.
        .where("attachments.uploaded_by", "like", "web:%")
        .limit(sweptAtOnce)
        .execute();
      const works = await dropAttachments(tx, old, now);
      await insertWork(tx, works, now);
      return { count: old.length, works };
    });
    publishEffects(wakeFor(removed.works));
    if (removed.count < sweptAtOnce) return;
  }
}

/** Removes uploads that were never sent, and bytes that belong to no row: both a day old. */
export async function removeOrphanFiles(
  { store, clock, files, log }: Omit<FileWorkDependencies, "publishEffects"> & { readonly log: Log },
  signal: AbortSignal,
): Promise<void> {
  const before = clock.now() - draftMs;
  for (;;) {
    signal.throwIfAborted();
    const old = await store.read
      .selectFrom("attachments")
      .select(["id", "workspace_id"])
      .where("message_id", "is", null)
      .where("created_at", "<", before)
      .limit(sweptAtOnce)
      .execute();
    if (old.length === 0) break;
    await store.write(async (tx) => {
      const still = await tx
        .selectFrom("attachments")
        .select(["id", "workspace_id"])
        .where(
          "id",
          "in",
          old.map(({ id }) => id),
        )
        .where("message_id", "is", null)
        .execute();
      await insertWork(tx, await dropAttachments(tx, still, clock.now()), clock.now());
    });
  }
  let removed = 0;
  let page: FileName[] = [];
  for await (const { workspaceId, id, storedAt } of files.stored()) {
    signal.throwIfAborted();
    if (storedAt >= before) continue;
    page.push({ workspaceId, id });
    if (page.length < sweptAtOnce) continue;
    removed += await removeUnknown(store, files, page);
    page = [];
  }
  removed += await removeUnknown(store, files, page);
  if (removed > 0) log.info({ files: removed }, "files: orphans removed");
}

async function removeUnknown(store: Store, files: Files, page: readonly FileName[]): Promise<number> {
  if (page.length === 0) return 0;
  const ids = page.map(({ id }) => id);
  const rows = await store.read.selectFrom("attachments").select("id").where("id", "in", ids).execute();
  const known = new Set(rows.map(({ id }) => id));
  const unknown = page.filter(({ id }) => !known.has(id));
  for (const name of unknown) await files.remove(name);
  return unknown.length;
}
