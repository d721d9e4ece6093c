import { rm } from "node:fs/promises";
import { join } from "node:path";
import { defaultFileBytesMax } from "#domain/files.ts";
import type { Clock } from "#runtime/clock.ts";
import type { Files } from "./contract.ts";
import type { FilesConfig } from "#config/environment.ts";
import type { Disk } from "./disk.ts";
import type { Secrets } from "#runtime/secrets.ts";
import { createFolderStorage } from "./folder.ts";
import { createS3Storage } from "./s3.ts";
import { spool, cleanSpool } from "./spool.ts";
import type { FileStorage } from "./storage.ts";
import { storageKey } from "./storage.ts";

export interface OpenFiles extends Files {
  /** Returns where files are stored. Throws an Error with what to fix. */
  check(signal: AbortSignal): Promise<string>;
}

/** Limit for all files of a message, as a multiple of the limit for one. */
const messageFactor = 4;
const purpose = "file link";

/** Stores files in the data folder, or in an S3-compatible storage. */
export function openFiles(options: {
  readonly config: FilesConfig | undefined;
  readonly dataDir: string;
  readonly publicUrl: string;
  readonly secrets: Secrets;
  readonly clock: Clock;
  readonly disk: Disk;
}): OpenFiles {
  const { config = {}, dataDir, publicUrl, secrets, clock, disk } = options;
  const folder = join(dataDir, "files");
  const incoming = join(folder, "incoming");
  const storage: FileStorage =
    config.s3 === undefined ? createFolderStorage(join(folder, "stored")) : createS3Storage(config.s3);
  const bytesMax = config.bytesMax ?? defaultFileBytesMax;

  return {
    bytesMax,
    messageBytesMax: bytesMax * messageFactor,
    async store({ workspaceId, id }, source, declaredType, max, signal) {
      const most = Math.min(max, bytesMax);
      const release = await disk.claim(most);
      try {
        const file = await spool(incoming, source, declaredType, most, signal);
        try {
          await storage.put(storageKey(workspaceId, id), file, signal);
        } finally {
          await rm(file.path, { force: true });
        }
        const { bytes, sha256, mediaType } = file;
        return { bytes, sha256, mediaType };
      } finally {
        release();
      }
    },
    async requireRoom(bytes) {
      (await disk.claim(bytes))();
    },
    open: ({ workspaceId, id }) => storage.get(storageKey(workspaceId, id)),
    remove: ({ workspaceId, id }) => storage.remove(storageKey(workspaceId, id)),
    async *stored() {
      await cleanSpool(incoming, Date.now());
      for await (const { key, storedAt } of storage.list()) {
        const [workspaceId = "", id = ""] = key.split("/");
        yield { workspaceId, id, storedAt };
      }
    },
    link: (id, lifetimeMs) => `${publicUrl}/files/${secrets.sign(purpose, `${id} ${clock.now() + lifetimeMs}`)}`,
    ofLink(token) {
      const [id, until] = secrets.verify(purpose, token)?.split(" ") ?? [];
      if (id === undefined || until === undefined) return null;
      return { id, expired: Number(until) <= clock.now() };
    },
    seal: (ref) => secrets.seal(ref),
    unseal: (sealed) => secrets.open(sealed),
    check: (signal) => storage.check(signal),
  };
}
