import { Worker } from "node:worker_threads";
import { createHash } from "node:crypto";
import { UnreadableDocument } from "#knowledge/documents/blocks.ts";
import type { Chunk } from "#knowledge/documents/chunk.ts";
import { chunkDocument } from "#knowledge/documents/chunk.ts";
import type { ReadableType } from "#knowledge/documents/file-types.ts";
import { threadEnvironment } from "#runtime/thread-environment.ts";
import { readPageHead } from "./page-head.ts";
import type { PageHead } from "./page-head.ts";
import { parseDocument } from "./parse.ts";
import { readSitemap } from "#knowledge/crawl/sitemap.ts";
import type { Sitemap } from "#knowledge/crawl/sitemap.ts";

export interface ParseTask {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly type: ReadableType;
  /** For a document that does not name itself. */
  readonly title: string;
  /** Of the media type that it was sent with. */
  readonly charset?: string;
}

/** A document as it is indexed. */
export interface ReadDocument {
  readonly title: string;
  readonly chunks: readonly Chunk[];
}

/** A page of a website: what it says, and what it says of other pages. */
export interface ReadPage {
  /** Null where it holds no text of its own. */
  readonly document: ReadDocument | null;
  /** Why `document` is null. */
  readonly reason: string;
  /** SHA-256 of its text. */
  readonly textHash: string;
  readonly head: PageHead;
}

/** What the thread is asked for. */
export type Job =
  | { readonly kind: "document"; readonly task: ParseTask }
  | { readonly kind: "page"; readonly task: ParseTask; readonly url: string }
  | { readonly kind: "sitemap"; readonly bytes: Uint8Array<ArrayBuffer> };

/** What each kind of {@link Job} gives. */
interface Results {
  readonly document: ReadDocument;
  readonly page: ReadPage;
  readonly sitemap: Sitemap;
}

export type ParseReply =
  /** The thread is up: time counts from here. */
  | { readonly kind: "begun" }
  | { readonly kind: "done"; readonly result: Results[Job["kind"]] }
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

const startMs = 60_000;

/** Small files of these types say a lot in few bytes. */
const alwaysInWorker: ReadonlySet<ReadableType> = new Set<ReadableType>([
  "application/pdf",
  "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
]);

/**
 * Parses and cuts up without holding up the process: larger documents in a thread of their own, which is ended when it takes too
 * long or too much memory. Rejects with {@link UnreadableDocument} for a document that cannot be read within that. The
 * task's bytes may be gone afterwards.
 */
export function parseInWorker(
  task: ParseTask,
  limits: ParseLimits = defaultParseLimits,
  signal?: AbortSignal,
): Promise<ReadDocument> {
  return runJob({ kind: "document", task }, limits, signal);
}

export function parsePageInWorker(
  task: ParseTask,
  url: string,
  signal?: AbortSignal,
  limits: ParseLimits = defaultParseLimits,
): Promise<ReadPage> {
  return runJob({ kind: "page", task, url }, limits, signal);
}

export function parseSitemapInWorker(
  bytes: Uint8Array<ArrayBuffer>,
  signal?: AbortSignal,
  limits: ParseLimits = defaultParseLimits,
): Promise<Sitemap> {
  return runJob({ kind: "sitemap", bytes }, limits, signal);
}

async function runJob<J extends Job>(job: J, limits: ParseLimits, signal?: AbortSignal): Promise<Results[J["kind"]]> {
  const bytes = job.kind === "sitemap" ? job.bytes : job.task.bytes;
  // The time for HTML grows with its size alone, so that most pages of websites need no thread.
  const times = job.kind !== "sitemap" && job.task.type === "text/html" ? 8 : 1;
  const small = bytes.byteLength <= limits.inPlaceBytesMax * times;
  if (small && (job.kind === "sitemap" || !alwaysInWorker.has(job.task.type))) {
    try {
      return (await runInPlace(job)) as Results[J["kind"]];
    } catch (cause) {
      throw cause instanceof UnreadableDocument ? cause : tooComplex(cause);
    }
  }
  const { promise, resolve, reject } = Promise.withResolvers<Exclude<ParseReply, { readonly kind: "begun" }>>();
  // Bytes that share their memory with others are copied, those that do not are handed over.
  const own = bytes.byteOffset === 0 && bytes.byteLength === bytes.buffer.byteLength;
  const worker = new Worker(new URL("./worker.ts", import.meta.url), {
    workerData: job,
    ...(own ? { transferList: [bytes.buffer] } : {}),
    resourceLimits: { maxOldGenerationSizeMb: limits.heapMb, stackSizeMb: 8 },
    env: threadEnvironment(),
    // What a parser has to say of a broken file is nothing for this program's output.
    stdout: true,
    stderr: true,
  });
  worker.stdout.resume();
  worker.stderr.resume();
  // A busy machine can take long to start a thread, which is not the document's fault.
  let timer = setTimeout(() => {
    reject(new Error(`the parser's thread did not start within ${startMs / 1_000} s`));
  }, startMs);
  // Thread and timer would keep a program alive that is told to stop.
  const onAbort = (): void => reject(signal?.reason);
  signal?.addEventListener("abort", onAbort);
  if (signal?.aborted === true) onAbort();
  worker.on("message", (reply: ParseReply) => {
    if (reply.kind !== "begun") {
      resolve(reply);
      return;
    }
    clearTimeout(timer);
    timer = setTimeout(() => {
      reject(
        new UnreadableDocument(
          `The file took longer than ${limits.timeMs / 1_000} s to read. Split it into smaller files.`,
        ),
      );
    }, limits.timeMs);
  });
  worker.on("error", (cause) => {
    reject(tooComplex(cause));
  });
  worker.once("exit", (code) => {
    reject(new Error(`the parser's thread ended with ${code} and no result`));
  });
  try {
    const reply = await promise;
    if (reply.kind === "unreadable") throw new UnreadableDocument(reply.reason);
    return reply.result as Results[J["kind"]];
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", onAbort);
    // Not waited for: a thread that is still starting, or deep in a loop, ends when it can, and keeps nobody.
    worker.unref();
    void worker.terminate();
  }
}

/** Throws {@link UnreadableDocument} for a file that is not text, or holds none. */
export async function runInPlace(job: Job): Promise<Results[Job["kind"]]> {
  switch (job.kind) {
    case "document":
      return readDocument(job.task);
    case "page":
      return readPage(job.task, job.url);
    case "sitemap":
      return readSitemap(job.bytes);
  }
}

async function readDocument({ bytes, type, title: fallback, charset }: ParseTask): Promise<ReadDocument> {
  const parsed = await parseDocument(bytes, type, charset);
  const title = parsed.title ?? fallback;
  const chunks = chunkDocument(parsed, title);
  if (chunks.length === 0) throw new UnreadableDocument("The file holds nothing but links to other pages.");
  return { title, chunks };
}

async function readPage(task: ParseTask, url: string): Promise<ReadPage> {
  const head = readPageHead(task, url);
  let document: ReadDocument | null = null;
  let reason = "";
  try {
    document = await readDocument(task);
  } catch (error) {
    if (!(error instanceof UnreadableDocument)) throw error;
    reason = error.message.replace(/^The file/, "The page");
  }
  const text = document === null ? "" : document.chunks.map((chunk) => `${chunk.title}\n${chunk.text}`).join("\n\n");
  return { document, reason, textHash: createHash("sha256").update(text).digest("hex"), head };
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
