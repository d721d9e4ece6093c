import { parentPort } from "node:worker_threads";
import { UnreadableDocument } from "#knowledge/documents/blocks.ts";
import { runInPlace } from "./parse-in-worker.ts";
import type { Job, ParseReply } from "./jobs.ts";

// Entry of the thread that parser-thread.ts starts. Runs one job after the other.

async function run(job: Job): Promise<ParseReply> {
  try {
    return { kind: "done", result: await runInPlace(job) };
  } catch (error) {
    // Errors lose their class between threads, so the message for the user is passed as data.
    if (error instanceof UnreadableDocument) return { kind: "unreadable", reason: error.message };
    throw error;
  }
}

// A failure of a job ends the thread: the rejection is not handled on purpose.
parentPort?.on("message", (job: Job) => {
  parentPort?.postMessage({ kind: "begun" } satisfies ParseReply);
  void run(job).then((reply) => parentPort?.postMessage(reply));
});
