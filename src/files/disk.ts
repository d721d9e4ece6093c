import { mkdir, statfs } from "node:fs/promises";
import { Problem } from "#domain/problem.ts";

/** Free bytes for this user on the disk of a folder. */
export type FreeBytes = (folder: string) => Promise<number>;

export interface Disk {
  readonly reserveBytes: number;
  /** Free bytes of the fullest folder. */
  freeBytes(): Promise<number>;
  /**
   * Claims room for bytes that are about to be written, until what it returns is called. Rejects with Problem storage_full
   * where they would take from the reserve.
   */
  claim(bytes: number): Promise<() => void>;
}

/** The disk below these folders. Claimed bytes count as taken until they are released, also those that are already written. */
export function createDisk(
  folders: readonly string[],
  reserveBytes: number,
  freeBytesOf: FreeBytes = freeBytesOnDisk,
): Disk {
  let claimed = 0;
  const freeBytes = async (): Promise<number> => Math.min(...(await Promise.all(folders.map(freeBytesOf))));
  return {
    reserveBytes,
    freeBytes,
    async claim(bytes) {
      // Nothing is awaited between the check and the claim: claims at the same time see each other, and only those that hold.
      if (reserveBytes > 0 && (await freeBytes()) - claimed - bytes < reserveBytes) throw storageFull();
      claimed += bytes;
      let held = true;
      return () => {
        if (held) claimed -= bytes;
        held = false;
      };
    },
  };
}

async function freeBytesOnDisk(folder: string): Promise<number> {
  await mkdir(folder, { recursive: true });
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}

const storageFull = (): Problem =>
  new Problem("storage_full", "No files are taken now: the disk is nearly full.", { retryAfterS: 300 });
