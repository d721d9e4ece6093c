import { mkdir, statfs } from "node:fs/promises";
import { Problem } from "#domain/problem.ts";

/** Free bytes on the disk of a folder, for this user. */
export type FreeBytes = (folder: string) => Promise<number>;

export interface Disk {
  readonly reserveBytes: number;
  /** Free bytes on the fullest disk. */
  freeBytes(): Promise<number>;
  /**
   * Reserves space for bytes to be written, until the returned function is called. Rejects with Problem storage_full where
   * they would reduce the reserve.
   */
  claim(bytes: number): Promise<() => void>;
}

/** The disks of these folders. Claimed bytes count as used until they are released, even when they are already written. */
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
      // No await between the check and the claim, so that concurrent claims see each other.
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
