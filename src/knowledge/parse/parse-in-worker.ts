import { createHash } from "node:crypto";
import { UnreadableDocument } from "#knowledge/documents/blocks.ts";
import { chunkDocument } from "#knowledge/documents/chunk.ts";
import type { ReadableType } from "#knowledge/documents/file-types.ts";
import { readPageHead } from "./html/page-head.ts";
import type { Job, ParseLimits, ParseTask, ReadDocument, ReadPage, Results } from "./jobs.ts";
import { parseDocument } from "./parse.ts";
import { runInThread } from "./parser-thread.ts";
import { readSitemap } from "#knowledge/crawl/sitemap.ts";
import type { Sitemap } from "#knowledge/crawl/sitemap.ts";

// Crafted Markdown takes quadratic time, so only small files are parsed on the event loop.
const defaultParseLimits: ParseLimits = {
  inPlaceBytesMax: 8 * 1024,
  timeMs: 30_000,
  heapMb: 512,
};

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
  // Bytes with a buffer of their own are transferred, others are copied.
  const own = bytes.byteOffset === 0 && bytes.byteLength === bytes.buffer.byteLength;
  let reply: Awaited<ReturnType<typeof runInThread>>;
  try {
    reply = await runInThread(job, own ? [bytes.buffer] : [], limits, signal);
  } catch (cause) {
    throw tooComplex(cause);
  }
  if (reply.kind === "unreadable") throw new UnreadableDocument(reply.reason);
  return reply.result as Results[J["kind"]];
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
  return { title, chunks, note: parsed.note ?? null };
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
