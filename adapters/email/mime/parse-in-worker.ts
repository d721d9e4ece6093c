import { Worker } from "node:worker_threads";
import type { Mail } from "./mail.ts";
import type { Source } from "./parse.ts";
import { readMail } from "./parse.ts";

/** Up to here a mail is read in a few milliseconds: a thread costs more than it saves. */
const inPlaceMax = 128 * 1024;
const threadMs = 60_000;
const heapMb = 512;

/** Reads a mail without holding up the process: a large one in a thread of its own, which is ended when it takes too long. */
export async function readMailApart(source: Source): Promise<Mail> {
  if (source.raw.length <= inPlaceMax) return readMail(source);
  try {
    return await inThread(source);
  } catch {
    // Too much for the thread as well. Its headers can still be read, which is enough to tell an agent of it.
    const beginning = await readMail({ raw: source.raw.subarray(0, inPlaceMax), bytes: source.bytes });
    return { ...beginning, lacks: "Parts of this e-mail could not be read: it takes too much memory or time." };
  }
}

async function inThread({ raw, bytes }: Source): Promise<Mail> {
  const { promise, resolve, reject } = Promise.withResolvers<Mail>();
  // Handed over, for a mail may have megabytes, and is held once here already.
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
