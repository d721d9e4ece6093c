import { Worker } from "node:worker_threads";
import { createHash } from "node:crypto";
import { UnreadableDocument } from "#knowledge/documents/blocks.ts";
import type { Chunk } from "#knowledge/documents/chunk.ts";
import { chunkDocument } from "#knowledge/documents/chunk.ts";
import type { ReadableType } from "#knowledge/documents/file-types.ts";
import { threadEnvironment } from "#runtime/thread-environment.ts";
import { readPageHead } from "./html/page-head.ts";
import type { PageHead } from "./html/page-head.ts";
import { parseDocument } from "./parse.ts";
import { readSitemap } from "#knowledge/crawl/sitemap.ts";
import type { Sitemap } from "#knowledge/crawl/sitemap.ts";

export interface ParseTask {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly type: ReadableType;
  /** Used where the document has no title. */
  readonly title: string;
  /** True: `title` is used even if the document has a title. */
  readonly hasOwnTitle?: boolean;
  /** True: the document's title is a heading like others, because an article has its title beside its text. */
  readonly isArticle?: boolean;
  /** The charset of the declared media type. */
  readonly charset?: string;
}

/** The parsed document, cut into chunks. */
export interface ReadDocument {
  readonly title: string;
  readonly chunks: readonly Chunk[];
}

/** A page of a website, with its links. */
export interface ReadPage {
  /** Null where the page has no text. */
  readonly document: ReadDocument | null;
  /** Why `document` is null. */
  readonly reason: string;
  /** SHA-256 of its text. */
  readonly textHash: string;
  readonly head: PageHead;
}

export type Job =
  | { readonly kind: "document"; readonly task: ParseTask }
  | { readonly kind: "page"; readonly task: ParseTask; readonly url: string }
  | { readonly kind: "sitemap"; readonly bytes: Uint8Array<ArrayBuffer> };

/** The result of each kind of {@link Job}. */
interface Results {
  readonly document: ReadDocument;
  readonly page: ReadPage;
  readonly sitemap: Sitemap;
}

export type ParseReply =
  /** Sent when the thread has started; the time limit begins. */
  | { readonly kind: "begun" }
  | { readonly kind: "done"; readonly result: Results[Job["kind"]] }
  | { readonly kind: "unreadable"; readonly reason: string };

export interface ParseLimits {
  /** Documents up to this size are parsed on the calling thread, which is faster than starting another. */
  readonly inPlaceBytesMax: number;
  readonly timeMs: number;
  readonly heapMb: number;
}

// Crafted Markdown takes quadratic time, so only small files are parsed on the event loop.
const defaultParseLimits: ParseLimits = {
  inPlaceBytesMax: 8 * 1024,
  timeMs: 30_000,
  heapMb: 512,
};

const startMs = 60_000;

/** Small files of these types can expand to much text. */
const alwaysInWorker: ReadonlySet<ReadableType> = new Set<ReadableType>([
  "application/pdf",
  "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
]);

/**
 * Parses a document and cuts it into chunks. Larger documents are parsed in a thread with limits of time and memory.
 * Rejects with {@link UnreadableDocument} for a document that cannot be read within the limits. The task's bytes may be
 * transferred, and must not be used afterwards.
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
  // Parsing HTML takes linear time, so most pages of websites need no thread.
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
  // Bytes with a buffer of their own are transferred, others are copied.
  const own = bytes.byteOffset === 0 && bytes.byteLength === bytes.buffer.byteLength;
  const worker = new Worker(new URL("./worker.ts", import.meta.url), {
    workerData: job,
    ...(own ? { transferList: [bytes.buffer] } : {}),
    resourceLimits: { maxOldGenerationSizeMb: limits.heapMb, stackSizeMb: 8 },
    env: threadEnvironment(),
    // Warnings of parsers about broken files must not appear in this program's output.
    stdout: true,
    stderr: true,
  });
  worker.stdout.resume();
  worker.stderr.resume();
  // Starting a thread can take long on a busy machine, so it has a limit of its own.
  let timer = setTimeout(() => {
    reject(new Error(`the parser's thread did not start within ${startMs / 1_000} s`));
  }, startMs);
  // Thread and timer would keep a stopping process alive.
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
    // Not awaited: a thread that is starting or looping may end late.
    worker.unref();
    void worker.terminate();
  }
}

/** Throws {@link UnreadableDocument} for a file without text. */
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

async function readDocument({
  bytes,
  type,
  title: given,
  hasOwnTitle = false,
  isArticle = false,
  charset,
}: ParseTask): Promise<ReadDocument> {
  const parsed = await parseDocument(bytes, type, charset);
  const title = hasOwnTitle ? given : (parsed.title ?? given);
  const chunks = chunkDocument(parsed, title, isArticle ? title : (parsed.title ?? title));
  if (chunks.length === 0)
    throw new UnreadableDocument("The file holds nothing but links to other pages. Add a file with text.");
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

/** A document can exhaust memory or stack; any other failure is a bug. */
function tooComplex(cause: unknown): unknown {
  const outOfMemory = cause instanceof Error && "code" in cause && cause.code === "ERR_WORKER_OUT_OF_MEMORY";
  const outOfStack = cause instanceof Error && cause.name === "RangeError";
  if (!outOfMemory && !outOfStack) return cause;
  return new UnreadableDocument(
    "The file is nested too deeply, or too large, to be read. Split it into smaller files.",
    { cause },
  );
}
