import { parentPort, workerData } from "node:worker_threads";
import { UnreadableDocument } from "./blocks.ts";
import { readDocument } from "./parse-apart.ts";
import type { ParseReply, ParseTask } from "./parse-apart.ts";

// Entry of the thread that parse-apart.ts starts: parses one document and ends.

function run(task: ParseTask): ParseReply {
  try {
    return { kind: "parsed", document: readDocument(task) };
  } catch (error) {
    // A thrown error loses its class on the way between threads, so what the user may read travels as data.
    if (error instanceof UnreadableDocument) return { kind: "unreadable", reason: error.message };
    throw error;
  }
}

if (parentPort !== null) parentPort.postMessage(run(workerData as ParseTask));
