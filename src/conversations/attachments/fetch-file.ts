import type { Channels } from "#channels/channels.ts";
import { DeliveryError } from "#channels/errors.ts";
import type { Reader, Tx } from "#database/contract.ts";
import { dialectOf } from "#database/dialects/dialect.ts";
import type { PayloadOf, Work, WorkDeclaration } from "#database/work.ts";
import { declareWork, eachRow } from "#database/work.ts";
import { finishWork, insertWork } from "#database/queries/outbox.ts";
import { sizeText } from "#domain/files.ts";
import type { Files } from "#files/contract.ts";
import { FileTooLarge, isStorageFull } from "#files/contract.ts";
import type { Checkpoint } from "#runtime/checkpoints.ts";
import { RetryLater } from "#queue/retry-later.ts";
import { syncAlso } from "#conversations/work/desk-sync-work.ts";
import type { Effects } from "#conversations/work/effects.ts";
import type { AttachmentRow } from "./attachments.ts";
import { attachmentOf, fetchFileKind } from "./attachments.ts";
import type { FileWorkDependencies } from "./remove-files.ts";
import { queueRemoval, wakeFor } from "./remove-files.ts";

interface FetchDependencies extends FileWorkDependencies {
  readonly channels: Channels;
  readonly checkpoint: Checkpoint;
}

/** A fetch that takes longer is aborted and tried again. */
const fetchMs = 120_000;

type StoredFile = Awaited<ReturnType<Files["store"]>>;

type FetchWork = Work<PayloadOf<typeof fetchFileKind>>;

export function declareFileFetch(dependencies: FetchDependencies): WorkDeclaration {
  return declareWork(fetchFileKind, {
    attemptsMax: 24,
    // Several large files may be fetched at a time, and customers must not wait for them.
    lanesMax: 6,
    run: eachRow((row, signal) => fetchFile(dependencies, row, signal)),
    waitsOut: waitsForRoom,
    countsWaiting: false,
    async onAbandon(tx, { payload }, reason, now) {
      const effects = await failFile(tx, payload.fileId, `it could not be fetched: ${reason}`, now);
      return () => dependencies.publishEffects(effects);
    },
  });
}

/**
 * Fetches a file that a customer sent. The bytes are stored before the row, under the same name on each try: an
 * interrupted fetch is repeated, and bytes that belong to no row are removed by the daily cleanup.
 */
async function fetchFile(dependencies: FetchDependencies, work: FetchWork, signal: AbortSignal): Promise<void> {
  const { store, clock, checkpoint, publishEffects } = dependencies;
  const { fileId } = work.payload;
  const row = await attachmentOf(store.read, fileId);
  if (row === undefined || row.state !== "pending" || row.ref === null) {
    await store.write((tx) => finishWork(tx, [work]));
    return;
  }
  let stored: StoredFile;
  try {
    stored = await storeFromPlatform(dependencies, row, row.ref, signal);
  } catch (error) {
    signal.throwIfAborted();
    const reason = await finalReason(dependencies, row, error);
    publishEffects(
      await store.write(async (tx) => {
        await finishWork(tx, [work]);
        return failFile(tx, row.id, reason, clock.now());
      }),
    );
    return;
  }
  checkpoint("file.stored");
  publishEffects(await store.write((tx) => storeResult(tx, dependencies, work, row, stored)));
}

async function storeFromPlatform(
  { store, files, channels }: FetchDependencies,
  row: AttachmentRow,
  ref: string,
  signal: AbortSignal,
): Promise<StoredFile> {
  const limited = AbortSignal.any([signal, AbortSignal.timeout(fetchMs)]);
  const left = files.messageBytesMax - (await bytesBeside(store.read, row));
  if (row.bytes !== null && row.bytes > files.bytesMax) throw new FileTooLarge(files.bytesMax);
  if (left <= 0 || (row.bytes !== null && row.bytes > left)) throw overTotal(files);
  // Checked before the platform is asked, which would send the bytes in vain.
  await files.requireRoom(Math.min(row.bytes ?? Infinity, files.bytesMax));
  const account = { id: row.account_id };
  await channels.ready(account);
  const source = channels.adapter(account).fetchFile?.(files.unseal(ref), limited);
  if (source === undefined) throw new DeliveryError("rejected", "files cannot be fetched from this channel");
  const name = { workspaceId: row.workspace_id, id: row.id };
  try {
    return await files.store(name, await source, row.media_type, left, limited);
  } catch (error) {
    throw error instanceof FileTooLarge && left < files.bytesMax ? overTotal(files) : error;
  }
}

/** Returns why the file cannot be had. Throws {@link RetryLater} if a later try may succeed. */
async function finalReason(dependencies: FetchDependencies, row: AttachmentRow, error: unknown): Promise<string> {
  if (isStorageFull(error)) {
    await noteStorageFull(dependencies, row);
    throw new RetryLater(noRoom, noRoomRetryMs, error);
  }
  const message = error instanceof Error ? error.message : "it could not be fetched";
  const isFinal = error instanceof FileTooLarge || (error instanceof DeliveryError && error.outcome === "rejected");
  if (isFinal) return message;
  throw new RetryLater(message, error instanceof DeliveryError ? error.retryAfterMs : undefined, error);
}

async function storeResult(
  tx: Tx,
  { clock, files }: FetchDependencies,
  work: FetchWork,
  row: AttachmentRow,
  stored: StoredFile,
): Promise<Effects | null> {
  const now = clock.now();
  // The row is gone if its conversation was deleted. The bytes then belong to nothing.
  const current = await attachmentOf(tx, row.id);
  if (current === undefined) return wakeFor(await queueRemoval(tx, [row], now));
  await finishWork(tx, [work]);
  // A message's files are fetched at the same time, so that the total is checked again under a lock.
  await lockMessage(tx, row.message_id);
  if ((await bytesBeside(tx, row)) + stored.bytes > files.messageBytesMax) {
    const works = await queueRemoval(tx, [row], now);
    const effects = await failFile(tx, row.id, overTotal(files).message, now);
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
      stored_at: now,
    })
    .where("id", "=", row.id)
    .execute();
  return effectsOf(tx, row, now);
}

/** Stored as the reason of a pending file, and shown to agents. */
const noRoom = "the disk is nearly full; it is fetched when there is room";
const noRoomRetryMs = 60_000;
/** Platforms keep files for days only, so that later tries are pointless. */
const noRoomMs = 7 * 86_400_000;

/** Whether the work is retried beyond its attempts, because the disk has no room. */
function waitsForRoom(work: Pick<FetchWork, "created_at">, error: unknown, now: number): boolean {
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

/** Returns the size of the message's other stored files. */
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

async function failFile(tx: Tx, id: string, reason: string, now: number): Promise<Effects | null> {
  const row = await attachmentOf(tx, id);
  if (row === undefined || row.state !== "pending") return null;
  await tx
    .updateTable("attachments")
    .set({ state: "failed", reason: reason.slice(0, 500), ref: null })
    .where("id", "=", id)
    .execute();
  return effectsOf(tx, row, now);
}

/** Returns the signals for everybody who shows the conversation, and queues the file for the desk. */
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
  const sync = await syncAlso(tx, row.id, [{ kind: "file", id: file }], now);
  if (sync !== null) await insertWork(tx, [sync], now);
  return {
    wake: sync === null ? [] : [sync],
    threads: [{ accountId: row.account_id, contextKey: row.context_key }],
    workspaces: [{ workspaceId: row.workspace_id, conversationId: row.id }],
  };
}
