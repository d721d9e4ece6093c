import { createHash, randomUUID } from "node:crypto";
import { mkdir, open, readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { fileTypeFromBuffer, supportedMimeTypes } from "file-type";
import { plainMediaType } from "#domain/files.ts";
import { FileTooLarge } from "./contract.ts";
import type { LocalFile } from "./storage.ts";

/** What a file's first bytes must tell of it. */
const headBytes = 65_536;
/** Longer than any transfer may take. */
const abandonedMs = 86_400_000;

export interface Spooled extends LocalFile {
  readonly mediaType: string;
}

/** Takes bytes to the disk as they come, and looks at what they are. Whatever throws leaves nothing there. */
export async function spool(
  folder: string,
  source: AsyncIterable<Uint8Array>,
  declaredType: string,
  bytesMax: number,
  signal: AbortSignal,
): Promise<Spooled> {
  await mkdir(folder, { recursive: true });
  const path = join(folder, randomUUID());
  const hash = createHash("sha256");
  const head: Uint8Array[] = [];
  let headSize = 0;
  let bytes = 0;
  try {
    const file = await open(path, "wx", 0o600);
    try {
      for await (const chunk of source) {
        signal.throwIfAborted();
        bytes += chunk.byteLength;
        if (bytes > bytesMax) throw new FileTooLarge(bytesMax);
        if (headSize < headBytes) {
          const part = chunk.subarray(0, headBytes - headSize);
          head.push(Uint8Array.from(part));
          headSize += part.byteLength;
        }
        hash.update(chunk);
        await file.write(chunk);
      }
      signal.throwIfAborted();
      // Known to be stored only when a loss of power cannot take it.
      await file.sync();
    } finally {
      await file.close();
    }
    return { path, bytes, sha256: hash.digest("hex"), mediaType: await typeOf(Buffer.concat(head), declaredType) };
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  }
}

/** Removes what a process left behind that ended in the middle. */
export async function sweepSpool(folder: string, now: number): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    const found = await stat(path).catch(() => undefined);
    if (found !== undefined && found.mtimeMs < now - abandonedMs) await rm(path, { force: true });
  }
}

/**
 * The type that the bytes say they are of. What the sender says counts only where bytes of that type carry no mark of
 * their own, such as those of a text.
 */
async function typeOf(head: Buffer, declaredType: string): Promise<string> {
  const declared = plainMediaType(declaredType);
  const found = (await fileTypeFromBuffer(head).catch(() => undefined))?.mime;
  // Documents of office programs are archives, and say so only.
  if (found === "application/zip" && declared.startsWith("application/vnd.")) return declared;
  if (found !== undefined) return found;
  return supportedMimeTypes.has(declared) ? "application/octet-stream" : declared;
}
