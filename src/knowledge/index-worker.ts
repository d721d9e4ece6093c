import { parentPort, workerData } from "node:worker_threads";
import type { IndexCall } from "./index-calls.ts";
import { perform } from "./index-calls.ts";
import { openIndexFile } from "./index-file.ts";
import type { ThreadReply, ThreadTask } from "./index-thread.ts";

// Entry of the thread that index-thread.ts starts: does one call after the other until it is ended.

const { path } = workerData as ThreadTask;
const file = openIndexFile(path);

function answer(call: IndexCall): ThreadReply {
  try {
    return { kind: "done", result: perform(file, call) };
  } catch (error) {
    // Errors lose what they have of their own on the way between threads, and by that is told what is to be done.
    const { errcode } = (error ?? {}) as { readonly errcode?: unknown };
    return { kind: "failed", message: String(error), errcode: typeof errcode === "number" ? errcode : null };
  }
}

parentPort?.on("message", (call: IndexCall) => {
  parentPort?.postMessage(answer(call));
});
