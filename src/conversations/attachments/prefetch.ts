import { hash } from "node:crypto";
import type { PrefetchedFile } from "#channels/contract.ts";
import { DeliveryError } from "#channels/errors.ts";
import { cleanFileName, sizeText } from "#domain/files.ts";
import { Problem } from "#domain/problem.ts";
import type { Upload, Uploaded } from "./upload.ts";
import type { FileWorkDependencies } from "./file-work.ts";
import { storeUpload, uploadOf } from "./file-work.ts";
import { FileTooLarge, isStorageFull } from "#files/contract.ts";

/** A file that somebody has sent along with a message that is still to be stored. */
export interface FileSource {
  /** What it is called when it is stored: the same on each try. */
  readonly id: string;
  readonly name: string;
  readonly mediaType: string;
  /** As its sender says; null: unknown. */
  readonly bytes: number | null;
  readonly fetch: (signal: AbortSignal) => Promise<AsyncIterable<Uint8Array>>;
}

export interface PrefetchOptions {
  /** What cannot be had now is done without; otherwise that is thrown, and the next try goes on where this one ended. */
  readonly isLastTry: boolean;
  /** For all of them together. */
  readonly withinMs?: number;
}

/** The same for the same file of a thread, in whichever process and try. */
export const prefetchedFileId = (accountId: string, thread: string, key: string): string =>
  `file_${hash("sha256", `${accountId}\n${thread}\n${key}`).slice(0, 26)}`;

/** A platform that sends nothing for so long is asked again. */
const fetchMs = 120_000;

/**
 * Stores files for a message to come. What is stored already is not fetched again: who tries again names them by the same
 * ids. They come from one message, so a person's unsent uploads are no bound for them.
 */
export async function prefetchFiles(
  dependencies: FileWorkDependencies,
  wanted: readonly FileSource[],
  to: Omit<Upload, "name" | "mediaType">,
  { isLastTry, withinMs }: PrefetchOptions,
  signal: AbortSignal,
): Promise<readonly PrefetchedFile[]> {
  const { store, files } = dependencies;
  const brought: PrefetchedFile[] = [];
  const patience = withinMs === undefined ? signal : AbortSignal.any([signal, AbortSignal.timeout(withinMs)]);
  let left = files.messageBytesMax;
  for (const each of wanted) {
    signal.throwIfAborted();
    try {
      const known = await uploadOf(store.read, each.id);
      const file =
        known === undefined
          ? await fetched(each)
          : { id: known.id, name: known.name, mediaType: known.media_type, bytes: known.bytes ?? 0 };
      brought.push({ kind: "stored", file });
      left -= file.bytes;
    } catch (error) {
      signal.throwIfAborted();
      const isTold = error instanceof FileTooLarge || error instanceof Problem || error instanceof DeliveryError;
      const isFinal =
        isTold && !isStorageFull(error) && !(error instanceof DeliveryError && error.outcome !== "rejected");
      if (!isFinal && !isLastTry) throw error;
      // What else fails speaks of disks and servers, to the operator.
      const reason = isTold ? error.message : "it could not be stored";
      brought.push({ kind: "refused", name: cleanFileName(each.name), reason, isFinal });
    }
  }
  return brought;

  async function fetched({ id, name, mediaType, bytes, fetch }: FileSource): Promise<Uploaded> {
    const max = Math.min(files.bytesMax, left);
    if (bytes !== null && bytes > files.bytesMax) throw new FileTooLarge(files.bytesMax);
    if (left <= 0 || (bytes !== null && bytes > left)) {
      const total = sizeText(files.messageBytesMax);
      throw new DeliveryError("rejected", `with the others it is more than ${total}, the most that a message takes`);
    }
    patience.throwIfAborted();
    await files.requireRoom(Math.min(bytes ?? Infinity, max));
    const limited = AbortSignal.any([patience, AbortSignal.timeout(fetchMs)]);
    const upload = { ...to, name, mediaType };
    return storeUpload(dependencies, { id, upload, max, bounded: false }, await fetch(limited), limited);
  }
}
