import { parentPort, workerData } from "node:worker_threads";
import { UnreadableDocument } from "#knowledge/documents/blocks.ts";
import { runInPlace } from "./parse-in-worker.ts";
import type { Job, ParseReply } from "./parse-in-worker.ts";

// Entry of the thread that adapters/email/mime/parse-in-worker.ts starts: does one job and ends.

async function run(job: Job): Promise<ParseReply> {
  try {
    return { kind: "done", result: await runInPlace(job) };
  } catch (error) {
    // A thrown error loses its class on the way between threads, so what the user may read travels as data.
    if (error instanceof UnreadableDocument) return { kind: "unreadable", reason: error.message };
    throw error;
  }
}

parentPort?.postMessage({ kind: "begun" } satisfies ParseReply);
parentPort?.postMessage(await run(workerData as Job));
