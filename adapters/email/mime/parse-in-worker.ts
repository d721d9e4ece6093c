import { Worker } from "node:worker_threads";
import type { Mail } from "./mail.ts";
import type { Source } from "./parse.ts";
import { readMail } from "./parse.ts";

/** Smaller mails parse in a few milliseconds, which is less than the cost of a thread. */
const inPlaceMax = 128 * 1024;
const threadMs = 60_000;
const heapMb = 512;

/** Parses a mail without blocking the process: large ones in a thread, which is terminated when it takes too long. */
export async function readMailInWorker(source: Source): Promise<Mail> {
  if (source.raw.length <= inPlaceMax) return readMail(source);
  try {
    return await inThread(source);
  } catch {
    // The thread failed too. Its beginning has the headers, which are enough for a note to agents.
    const beginning = await readMail({ raw: source.raw.subarray(0, inPlaceMax), bytes: source.bytes });
    return { ...beginning, lacks: "Parts of this e-mail could not be read: it takes too much memory or time." };
  }
}

async function inThread({ raw, bytes }: Source): Promise<Mail> {
  const { promise, resolve, reject } = Promise.withResolvers<Mail>();
  // Transferred instead of copied again: a mail may have megabytes.
  const copy = new Uint8Array(raw);
  const worker = new Worker(new URL("./parse-worker.ts", import.meta.url), {
    workerData: { raw: copy, bytes },
    transferList: [copy.buffer],
    resourceLimits: { maxOldGenerationSizeMb: heapMb },
    env: {},
    stdout: true,
    stderr: true,
  });
  worker.stdout.resume();
  worker.stderr.resume();
  const timer = setTimeout(() => reject(new Error("reading the mail takes too long")), threadMs);
  worker.on("message", resolve);
  worker.on("error", reject);
  worker.once("exit", (code) => reject(new Error(`the thread ended with ${code} and no mail`)));
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    worker.unref();
    void worker.terminate();
  }
}
