import { sizeText } from "#domain/files.ts";
import { Problem } from "#domain/problem.ts";

export interface FileName {
  readonly workspaceId: string;
  readonly id: string;
}

/** More bytes than are taken. */
export class FileTooLarge extends Error {
  constructor(bytesMax: number) {
    super(`it is larger than ${sizeText(bytesMax)}, which is the most that is taken`);
    this.name = "FileTooLarge";
  }
}

/** The disk is nearly full. It passes when there is room. */
export const isStorageFull = (error: unknown): boolean => error instanceof Problem && error.code === "storage_full";

/** The bytes of files. What is known of them stands in the database. */
export interface Files {
  /** Of one file, and of all files of a message together. */
  readonly bytesMax: number;
  readonly messageBytesMax: number;
  /**
   * Stores what comes, whole or not at all; the same name again replaces it. `max` can only lower {@link bytesMax}. Rejects
   * with {@link FileTooLarge}, and with Problem storage_full before anything is read. `mediaType` is what the bytes say, whatever was declared.
   */
  store(
    name: FileName,
    source: AsyncIterable<Uint8Array>,
    declaredType: string,
    max: number,
    signal: AbortSignal,
  ): Promise<{ readonly bytes: number; readonly sha256: string; readonly mediaType: string }>;
  /** Rejects with Problem storage_full where a file of this size has no room. */
  requireRoom(bytes: number): Promise<void>;
  /** Rejects where it is not stored (any more). */
  open(name: FileName): Promise<AsyncIterable<Uint8Array>>;
  /** Removing what is not there is no failure. */
  remove(name: FileName): Promise<void>;
  /** All that is stored, for finding what belongs to nothing. */
  stored(): AsyncIterable<FileName & { readonly storedAt: number }>;
  /** An address by which anybody who has it gets the file, for so long. */
  link(id: string, lifetimeMs: number): string;
  /** Null: the token is not ours, or was changed. */
  ofLink(token: string): { readonly id: string; readonly expired: boolean } | null;
  /** Platforms' names for files are stored encrypted: some of them open the file. */
  seal(ref: string): string;
  unseal(sealed: string): string;
}
