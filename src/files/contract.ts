import { sizeText } from "#domain/files.ts";
import { Problem } from "#domain/problem.ts";

export interface FileName {
  readonly workspaceId: string;
  readonly id: string;
}

/** The file exceeds the limit. */
export class FileTooLarge extends Error {
  constructor(bytesMax: number) {
    super(`it is larger than ${sizeText(bytesMax)}, which is the most that is taken`);
    this.name = "FileTooLarge";
  }
}

/** Whether the disk is nearly full, which can pass. */
export const isStorageFull = (error: unknown): boolean => error instanceof Problem && error.code === "storage_full";

/** Stores the bytes of files. Their records are in the database. */
export interface Files {
  /** Limits for one file, and for all files of a message together. */
  readonly bytesMax: number;
  readonly messageBytesMax: number;
  /**
   * Stores a file completely or not at all, replacing a file of the same name. `max` can only lower {@link bytesMax}. The
   * returned `mediaType` is detected from the bytes. Rejects with {@link FileTooLarge}, and with Problem storage_full before
   * anything is read.
   */
  store(
    name: FileName,
    source: AsyncIterable<Uint8Array>,
    declaredType: string,
    max: number,
    signal: AbortSignal,
  ): Promise<{ readonly bytes: number; readonly sha256: string; readonly mediaType: string }>;
  /** Rejects with Problem storage_full where there is no room for a file of this size. */
  requireRoom(bytes: number): Promise<void>;
  /** Rejects where the file is not stored. */
  open(name: FileName): Promise<AsyncIterable<Uint8Array>>;
  /** Succeeds where there is no such file. */
  remove(name: FileName): Promise<void>;
  /** All stored files, to find orphans. */
  stored(): AsyncIterable<FileName & { readonly storedAt: number }>;
  /** An address that gives anyone access to the file for this time. */
  link(id: string, lifetimeMs: number): string;
  /** Null where the token is invalid. */
  ofLink(token: string): { readonly id: string; readonly expired: boolean } | null;
  /** Encrypts a platform's reference to a file, since some references grant access. */
  seal(ref: string): string;
  unseal(sealed: string): string;
}
