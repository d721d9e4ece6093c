import type { Readable } from "node:stream";

/** Stores bytes of files. Keys have the form `WORKSPACE/FILE`, made by {@link storageKey}. */
export interface FileStorage {
  /** Stores a local file completely or not at all, replacing the file of this key. The local file may be moved. */
  put(key: string, file: LocalFile, signal: AbortSignal): Promise<void>;
  /** Rejects with {@link FileGone} where there is no such file. */
  get(key: string): Promise<Readable>;
  /** Succeeds where there is no such file. */
  remove(key: string): Promise<void>;
  /** All stored files, unordered. */
  list(): AsyncIterable<{ readonly key: string; readonly storedAt: number }>;
  /** Returns where files are stored. Throws an Error with what to fix. */
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

/** Checks the key, since it becomes part of a path and of an address. */
export function storageKey(workspaceId: string, fileId: string): string {
  const key = `${workspaceId}/${fileId}`;
  if (!isStorageKey(key)) throw new Error("a file's workspace or id is not of the form that this version writes");
  return key;
}
