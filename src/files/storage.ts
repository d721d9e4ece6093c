import type { Readable } from "node:stream";

/** Where the bytes of files stand. Keys are `WORKSPACE/FILE`, as {@link storageKey} makes them. */
export interface FileStorage {
  /** Stores the local file at `path` whole or not at all, in place of what had the key before. The file may be gone then. */
  put(key: string, file: LocalFile, signal: AbortSignal): Promise<void>;
  /** Rejects with {@link FileGone} where there is none. */
  get(key: string): Promise<Readable>;
  /** Removing what is not there is no failure. */
  remove(key: string): Promise<void>;
  /** All that is stored, in no order. */
  list(): AsyncIterable<{ readonly key: string; readonly storedAt: number }>;
  /** Says where it stores, or throws an Error that tells the mend. */
  check(signal: AbortSignal): Promise<string>;
}

export interface LocalFile {
  readonly path: string;
  readonly bytes: number;
  /** Lower-case hex. */
  readonly sha256: string;
}

export class FileGone extends Error {
  constructor(options?: ErrorOptions) {
    super("the file is not stored any more", options);
    this.name = "FileGone";
  }
}

const keyPattern = /^wt_[a-z0-9_]{8,60}\/file_[0-9a-z]{26}$/;

export const isStorageKey = (key: string): boolean => keyPattern.test(key);

/** A key is part of a path and of an address, so it is checked wherever it is made. */
export function storageKey(workspaceId: string, fileId: string): string {
  const key = `${workspaceId}/${fileId}`;
  if (!isStorageKey(key)) throw new Error("a file's workspace or id is not of the form that this version writes");
  return key;
}
