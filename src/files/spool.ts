import { createHash, randomUUID } from "node:crypto";
import { mkdir, open, readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { fileTypeFromBuffer, supportedMimeTypes } from "file-type";
import { plainMediaType } from "#domain/files.ts";
import { FileTooLarge } from "./contract.ts";
import type { LocalFile } from "./storage.ts";

/** First bytes of a file from which its type is detected. */
const headBytes = 65_536;
/** No transfer takes longer. */
const abandonedMs = 86_400_000;

export interface Spooled extends LocalFile {
  readonly mediaType: string;
}

/** Writes bytes to disk as they arrive, and detects their type. An error leaves no file behind. */
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
      // The file counts as stored only when it survives a power failure.
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

/** Removes files of interrupted transfers. */
export async function cleanSpool(folder: string, now: number): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    const found = await stat(path).catch(() => undefined);
    if (found !== undefined && found.mtimeMs < now - abandonedMs) await rm(path, { force: true });
  }
}

/** Detects the type from the bytes. The declared type counts only for types without a signature, such as text. */
async function typeOf(head: Buffer, declaredType: string): Promise<string> {
  const declared = plainMediaType(declaredType);
  const found = (await fileTypeFromBuffer(head).catch(() => undefined))?.mime;
  // Office documents are detected as archives.
  if (found === "application/zip" && declared.startsWith("application/vnd.")) return declared;
  if (found !== undefined) return found;
  return supportedMimeTypes.has(declared) ? "application/octet-stream" : declared;
}
