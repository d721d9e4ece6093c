import { parentPort, workerData } from "node:worker_threads";
import { UnreadableDocument } from "../blocks.ts";
import { runInPlace } from "./apart.ts";
import type { Job, ParseReply } from "./apart.ts";

// Entry of the thread that parse-apart.ts starts: does one job and ends.

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
