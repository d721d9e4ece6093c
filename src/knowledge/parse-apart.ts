import { Worker } from "node:worker_threads";
import { UnreadableDocument } from "./blocks.ts";
import type { Chunk } from "./chunk.ts";
import { chunkDocument } from "./chunk.ts";
import { parseDocument } from "./parse.ts";
import type { ReadableType } from "./parse.ts";

export interface ParseTask {
  readonly bytes: Uint8Array;
  readonly type: ReadableType;
  /** For a document that does not name itself. */
  readonly title: string;
}

/** A document as it is indexed. */
export interface ReadDocument {
  readonly title: string;
  readonly chunks: readonly Chunk[];
}

export type ParseReply =
  | { readonly kind: "parsed"; readonly document: ReadDocument }
  | { readonly kind: "unreadable"; readonly reason: string };

export interface ParseLimits {
  /** A document up to this size is parsed where it is: a thread costs more than it saves. */
  readonly inPlaceBytesMax: number;
  readonly timeMs: number;
  readonly heapMb: number;
}

// Crafted Markdown takes time that grows with the square of its size, so only small files stay on the event loop.
const defaultParseLimits: ParseLimits = {
  inPlaceBytesMax: 8 * 1024,
  timeMs: 30_000,
  heapMb: 512,
};

/**
 * Parses and cuts up without holding up the process: larger documents in a thread of their own, which is ended when it takes too
 * long or too much memory. Rejects with {@link UnreadableDocument} for a document that cannot be read within that.
 */
export async function parseApart(task: ParseTask, limits: ParseLimits = defaultParseLimits): Promise<ReadDocument> {
  if (task.bytes.byteLength <= limits.inPlaceBytesMax) return parseInPlace(task);
  const { promise, resolve, reject } = Promise.withResolvers<ParseReply>();
  const worker = new Worker(new URL("./parse-worker.ts", import.meta.url), {
    workerData: task,
    resourceLimits: { maxOldGenerationSizeMb: limits.heapMb, stackSizeMb: 8 },
    env: {},
  });
  const timer = setTimeout(() => {
    reject(
      new UnreadableDocument(
        `The file took longer than ${limits.timeMs / 1_000} s to read. Split it into smaller files.`,
      ),
    );
  }, limits.timeMs);
  worker.once("message", resolve);
  worker.once("error", (cause) => {
    reject(tooComplex(cause));
  });
  worker.once("exit", (code) => {
    reject(new Error(`the parser's thread ended with ${code} and no result`));
  });
  try {
    const reply = await promise;
    if (reply.kind === "unreadable") throw new UnreadableDocument(reply.reason);
    return reply.document;
  } finally {
    clearTimeout(timer);
    await worker.terminate();
  }
}

/** Throws {@link UnreadableDocument} for a file that is not text, or holds none. */
export function readDocument({ bytes, type, title: fallback }: ParseTask): ReadDocument {
  const parsed = parseDocument(bytes, type);
  const title = parsed.title ?? fallback;
  const chunks = chunkDocument(parsed, title);
  if (chunks.length === 0) throw new UnreadableDocument("The file holds nothing but links to other pages.");
  return { title, chunks };
}

function parseInPlace(task: ParseTask): ReadDocument {
  try {
    return readDocument(task);
  } catch (cause) {
    throw cause instanceof UnreadableDocument ? cause : tooComplex(cause);
  }
}

/** Out of memory or out of stack is the document's fault; any other failure is ours. */
function tooComplex(cause: unknown): unknown {
  const outOfMemory = cause instanceof Error && "code" in cause && cause.code === "ERR_WORKER_OUT_OF_MEMORY";
  const outOfStack = cause instanceof Error && cause.name === "RangeError";
  if (!outOfMemory && !outOfStack) return cause;
  return new UnreadableDocument(
    "The file is nested too deeply, or too large, to be read. Split it into smaller files.",
    { cause },
  );
}
