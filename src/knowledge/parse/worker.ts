import { parentPort, workerData } from "node:worker_threads";
import { UnreadableDocument } from "#knowledge/documents/blocks.ts";
import { runInPlace } from "./parse-in-worker.ts";
import type { Job, ParseReply } from "./parse-in-worker.ts";

// Entry of the thread that parse-in-worker.ts starts. Runs one job and ends.

async function run(job: Job): Promise<ParseReply> {
  try {
    return { kind: "done", result: await runInPlace(job) };
  } catch (error) {
    // Errors lose their class between threads, so the message for the user is passed as data.
    if (error instanceof UnreadableDocument) return { kind: "unreadable", reason: error.message };
    throw error;
  }
}

parentPort?.postMessage({ kind: "begun" } satisfies ParseReply);
parentPort?.postMessage(await run(workerData as Job));
