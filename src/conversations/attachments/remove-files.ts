import { channelsWith } from "#channels/catalog.ts";
import type { PayloadOf, Work, WorkDeclaration } from "#database/work.ts";
import { declareWork } from "#database/work.ts";
import type { NewWork } from "#database/queries/outbox.ts";
import { finishWork, insertWork } from "#database/queries/outbox.ts";
import type { Store, Tx } from "#database/contract.ts";
import type { FileName, Files } from "#files/contract.ts";
import type { Clock } from "#runtime/clock.ts";
import type { Log } from "#runtime/log.ts";
import type { Effects } from "#conversations/work/effects.ts";
import type { AttachmentRow } from "./attachments.ts";
import { draftMs, dropAttachments, removalOf, removeFilesKind } from "./attachments.ts";

export interface FileWorkDependencies {
  readonly store: Store;
  readonly clock: Clock;
  readonly files: Files;
  readonly publishEffects: (effects: Effects | null) => void;
}

/** Queues the removal of bytes that belong to no row. */
export async function queueRemoval(
  tx: Tx,
  rows: readonly Pick<AttachmentRow, "id" | "workspace_id">[],
  now: number,
): Promise<readonly NewWork[]> {
  const works = removalOf(rows, now);
  await insertWork(tx, works, now);
  return works;
}

export const wakeFor = (wake: readonly NewWork[]): Effects => ({ wake, threads: [], workspaces: [] });

export function declareFileRemoval(dependencies: Pick<FileWorkDependencies, "store" | "files">): WorkDeclaration {
  return declareWork(removeFilesKind, {
    batch: true,
    // Erased files must be removed however long the storage is away.
    attemptsMax: Number.POSITIVE_INFINITY,
    lanesMax: 2,
    run: (rows, signal) => removeFiles(dependencies, rows, signal),
  });
}

/** Removes bytes whose rows are deleted. Idempotent. */
export async function removeFiles(
  { store, files }: Pick<FileWorkDependencies, "store" | "files">,
  works: readonly Work<PayloadOf<typeof removeFilesKind>>[],
  signal: AbortSignal,
): Promise<void> {
  for (const work of works) {
    for (const name of work.payload.files) {
      signal.throwIfAborted();
      await files.remove(name);
    }
    await store.write((tx) => finishWork(tx, [work]));
  }
}

const rowsPerBatch = 200;

/** Lifetime of uploads that a visitor did not send. */
const unsentMs = 3_600_000;

/** Removes uploads that visitors of a chat did not send. */
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
        .where("accounts.channel", "in", channelsWith("chat"))
        // Agents' uploads are drafts, which are kept longer.
        .where("attachments.uploaded_by", "like", "web:%")
        .limit(rowsPerBatch)
        .execute();
      const works = await dropAttachments(tx, old, now);
      await insertWork(tx, works, now);
      return { count: old.length, works };
    });
    publishEffects(wakeFor(removed.works));
    if (removed.count < rowsPerBatch) return;
  }
}

/** Removes uploads that were not sent within a day, and bytes of that age that belong to no row. */
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
      .limit(rowsPerBatch)
      .execute();
    if (old.length === 0) break;
    await store.write(async (tx) => {
      const unsent = await tx
        .selectFrom("attachments")
        .select(["id", "workspace_id"])
        .where(
          "id",
          "in",
          old.map(({ id }) => id),
        )
        .where("message_id", "is", null)
        .execute();
      await insertWork(tx, await dropAttachments(tx, unsent, clock.now()), clock.now());
    });
  }
  let removed = 0;
  let page: FileName[] = [];
  for await (const { workspaceId, id, storedAt } of files.stored()) {
    signal.throwIfAborted();
    if (storedAt >= before) continue;
    page.push({ workspaceId, id });
    if (page.length < rowsPerBatch) continue;
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
  const avatars = await store.read.selectFrom("agents").select("avatar").where("avatar", "in", ids).execute();
  const known = new Set([...rows.map(({ id }) => id), ...avatars.map(({ avatar }) => avatar)]);
  const unknown = page.filter(({ id }) => !known.has(id));
  for (const name of unknown) await files.remove(name);
  return unknown.length;
}
