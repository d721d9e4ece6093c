import { hash } from "node:crypto";
import type { PrefetchedFile } from "#channels/contract.ts";
import { DeliveryError } from "#channels/errors.ts";
import { cleanFileName, sizeText } from "#domain/files.ts";
import { Problem } from "#domain/problem.ts";
import type { Upload, Uploaded } from "./upload.ts";
import { attachmentOf } from "./attachments.ts";
import type { FileWorkDependencies } from "./remove-files.ts";
import { storeUpload } from "./store-upload.ts";
import { FileTooLarge, isStorageFull } from "#files/contract.ts";

/** A file of a message that is not stored yet. */
export interface FileSource {
  /** Id of the stored file: the same on each try. */
  readonly id: string;
  readonly name: string;
  readonly mediaType: string;
  /** Declared by the sender; null if unknown. */
  readonly bytes: number | null;
  readonly fetch: (signal: AbortSignal) => Promise<AsyncIterable<Uint8Array>>;
}

export interface PrefetchOptions {
  /** On the last try, a file that cannot be fetched is left out. Before, its error is thrown for another try. */
  readonly isLastTry: boolean;
  /** Limit for all files together. */
  readonly withinMs?: number;
}

/** Returns the same id for a file of a thread in each process and try. */
export const prefetchedFileId = (accountId: string, thread: string, key: string): string =>
  `file_${hash("sha256", `${accountId}\n${thread}\n${key}`).slice(0, 26)}`;

/** A fetch that takes longer is aborted and tried again. */
const fetchMs = 120_000;

/**
 * Stores files before their message. A retry uses the same ids, so that stored files are not fetched again. The limit of
 * unsent uploads does not apply, because the files belong to one message.
 */
export async function prefetchFiles(
  dependencies: FileWorkDependencies,
  sources: readonly FileSource[],
  to: Omit<Upload, "name" | "mediaType">,
  { isLastTry, withinMs }: PrefetchOptions,
  signal: AbortSignal,
): Promise<readonly PrefetchedFile[]> {
  const { store, files } = dependencies;
  const prefetched: PrefetchedFile[] = [];
  const overall = withinMs === undefined ? signal : AbortSignal.any([signal, AbortSignal.timeout(withinMs)]);
  let left = files.messageBytesMax;
  for (const each of sources) {
    signal.throwIfAborted();
    try {
      const known = await attachmentOf(store.read, each.id);
      const file =
        known === undefined
          ? await fetched(each)
          : { id: known.id, name: known.name, mediaType: known.media_type, bytes: known.bytes ?? 0 };
      prefetched.push({ kind: "stored", file });
      left -= file.bytes;
    } catch (error) {
      signal.throwIfAborted();
      const isPublic = error instanceof FileTooLarge || error instanceof Problem || error instanceof DeliveryError;
      const isFinal =
        isPublic && !isStorageFull(error) && !(error instanceof DeliveryError && error.outcome !== "rejected");
      if (!isFinal && !isLastTry) throw error;
      // Other messages name disks and servers, which only operators should see.
      const reason = isPublic ? error.message : "it could not be stored";
      prefetched.push({ kind: "refused", name: cleanFileName(each.name), reason, isFinal });
    }
  }
  return prefetched;

  async function fetched({ id, name, mediaType, bytes, fetch }: FileSource): Promise<Uploaded> {
    const max = Math.min(files.bytesMax, left);
    if (bytes !== null && bytes > files.bytesMax) throw new FileTooLarge(files.bytesMax);
    if (left <= 0 || (bytes !== null && bytes > left)) {
      const total = sizeText(files.messageBytesMax);
      throw new DeliveryError("rejected", `with the others it is more than ${total}, the most that a message takes`);
    }
    overall.throwIfAborted();
    await files.requireRoom(Math.min(bytes ?? Infinity, max));
    const limited = AbortSignal.any([overall, AbortSignal.timeout(fetchMs)]);
    const upload = { ...to, name, mediaType };
    return storeUpload(dependencies, { id, upload, max, bounded: false }, await fetch(limited), limited);
  }
}
