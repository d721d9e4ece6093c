import { Worker } from "node:worker_threads";
import { UnreadableDocument } from "#knowledge/documents/blocks.ts";
import { threadEnvironment } from "#runtime/thread-environment.ts";
import type { Job, ParseLimits, ParseReply } from "./jobs.ts";

const startMs = 60_000;
/** A thread without work ends after this time. It would hold the parsers in memory. */
const idleMs = 10_000;
/** A thread is replaced after so many jobs: parsers may keep memory of crafted files. */
const jobsMax = 100;

type Result = Exclude<ParseReply, { readonly kind: "begun" }>;

interface ParserThread {
  readonly worker: Worker;
  readonly heapMb: number;
  jobs: number;
  idleTimer: NodeJS.Timeout | undefined;
}

/** Threads that wait for the next job. Starting one takes longer than most documents: it loads the parsers. */
const idle = new Set<ParserThread>();

/** For tests. */
export const idleThreads = (): number => idle.size;

/**
 * Runs the job in a thread that runs no other at the same time. Rejects with {@link UnreadableDocument} above the time
 * limit, with the thread's error where it ends, and with the signal's reason.
 */
export async function runInThread(
  job: Job,
  transferred: readonly ArrayBuffer[],
  limits: ParseLimits,
  signal?: AbortSignal,
): Promise<Result> {
  const thread = takeThread(limits.heapMb);
  const { worker } = thread;
  const { promise, resolve, reject } = Promise.withResolvers<Result>();
  // Starting a thread can take long on a busy machine, so it has a limit of its own.
  let timer = setTimeout(() => {
    reject(new Error(`the parser's thread did not start within ${startMs / 1_000} s`));
  }, startMs);
  // Thread and timer would keep a stopping process alive.
  const onAbort = (): void => reject(signal?.reason);
  const onMessage = (reply: ParseReply): void => {
    if (reply.kind !== "begun") return resolve(reply);
    clearTimeout(timer);
    timer = setTimeout(() => {
      const reason = `The file took longer than ${limits.timeMs / 1_000} s to read. Split it into smaller files.`;
      reject(new UnreadableDocument(reason));
    }, limits.timeMs);
  };
  const onExit = (code: number): void => reject(new Error(`the parser's thread ended with ${code} and no result`));
  signal?.addEventListener("abort", onAbort);
  if (signal?.aborted === true) onAbort();
  worker.on("message", onMessage);
  worker.once("error", reject);
  worker.once("exit", onExit);
  try {
    worker.postMessage(job, [...transferred]);
    const reply = await promise;
    worker.off("error", reject);
    keepThread(thread);
    return reply;
  } catch (error) {
    // A thread that is starting or looping may end late, and may fail again.
    worker.on("error", () => undefined);
    worker.unref();
    void worker.terminate();
    throw error;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", onAbort);
    worker.off("message", onMessage);
    worker.off("exit", onExit);
  }
}

function takeThread(heapMb: number): ParserThread {
  const waiting = [...idle].find((thread) => thread.heapMb === heapMb);
  if (waiting === undefined) return { worker: startWorker(heapMb), heapMb, jobs: 0, idleTimer: undefined };
  idle.delete(waiting);
  clearTimeout(waiting.idleTimer);
  waiting.worker.removeAllListeners("error");
  waiting.worker.ref();
  return waiting;
}

function keepThread(thread: ParserThread): void {
  const { worker } = thread;
  thread.jobs += 1;
  worker.unref();
  const end = (): void => {
    idle.delete(thread);
    void worker.terminate();
  };
  if (thread.jobs >= jobsMax) return end();
  worker.on("error", end);
  thread.idleTimer = setTimeout(end, idleMs).unref();
  idle.add(thread);
}

function startWorker(heapMb: number): Worker {
  const worker = new Worker(new URL("./worker.ts", import.meta.url), {
    resourceLimits: { maxOldGenerationSizeMb: heapMb, stackSizeMb: 8 },
    env: threadEnvironment(),
    // Warnings of parsers about broken files must not appear in this program's output.
    stdout: true,
    stderr: true,
  });
  worker.stdout.resume();
  worker.stderr.resume();
  return worker;
}
