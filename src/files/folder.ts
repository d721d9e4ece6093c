import { createReadStream } from "node:fs";
import { mkdir, open, readdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { randomUUID } from "node:crypto";
import { dirname, join } from "node:path";
import type { FileStorage } from "./storage.ts";
import { FileGone, isStorageKey } from "./storage.ts";

/** Stores files in one folder per workspace. Local files passed to `put` must be on the same disk. */
export function createFolderStorage(root: string): FileStorage {
  const pathOf = (key: string): string => {
    if (!isStorageKey(key)) throw new Error("not a key of a stored file");
    return join(root, key);
  };
  return {
    async put(key, { path }) {
      const target = pathOf(key);
      await mkdir(dirname(target), { recursive: true });
      await rename(path, target);
      await syncFolder(dirname(target));
    },
    async get(key) {
      const path = pathOf(key);
      const handle = await open(path, "r").catch((error: unknown) => {
        throw isMissing(error) ? new FileGone({ cause: error }) : error;
      });
      return createReadStream(path, { fd: handle, autoClose: true });
    },
    remove: (key) => rm(pathOf(key), { force: true }),
    async *list() {
      for (const workspace of await namesIn(root)) {
        for (const file of await namesIn(join(root, workspace))) {
          const key = `${workspace}/${file}`;
          if (!isStorageKey(key)) continue;
          const found = await stat(pathOf(key)).catch((error: unknown) => {
            if (isMissing(error)) return undefined;
            throw error;
          });
          if (found !== undefined) yield { key, storedAt: found.mtimeMs };
        }
      }
    },
    async check() {
      const probe = join(root, `.probe-${randomUUID()}`);
      try {
        await mkdir(root, { recursive: true });
        await writeFile(probe, "");
        await rm(probe);
      } catch (error) {
        throw new Error(`files cannot be stored in ${root}: make it writable, or set PARLEY_DATA_DIR`, {
          cause: error,
        });
      }
      return `in ${root}`;
    },
  };
}

/** Makes the file's name survive a power failure, like its bytes. */
async function syncFolder(path: string): Promise<void> {
  const handle = await open(path, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function namesIn(path: string): Promise<readonly string[]> {
  try {
    return await readdir(path);
  } catch (error) {
    if (isMissing(error) || (error as { readonly code?: unknown }).code === "ENOTDIR") return [];
    throw error;
  }
}

const isMissing = (error: unknown): boolean => (error as { readonly code?: unknown } | null)?.code === "ENOENT";
