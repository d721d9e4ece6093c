import { setPriority } from "node:os";
import { parentPort } from "node:worker_threads";
import type { ThreadReply } from "./call-thread.ts";

/** The other end of call-thread.ts: does one call after the other until the thread is ended. */
export function answerCalls(perform: (call: unknown) => unknown, priority: ThreadPriority): void {
  stepBack(priority);
  parentPort?.on("message", (call: unknown) => {
    parentPort?.postMessage(reply(() => perform(call)));
  });
}

function reply(perform: () => unknown): ThreadReply<unknown> {
  try {
    return { kind: "done", result: perform() };
  } catch (error) {
    // Errors lose what they have of their own on the way between threads, and by that is told what is to be done.
    const { errcode } = (error ?? {}) as { readonly errcode?: unknown };
    return { kind: "failed", message: String(error), errcode: typeof errcode === "number" ? errcode : null };
  }
}

/** Somebody waits for the answers, or nobody does. */
export type ThreadPriority = "answers" | "background";

const niceness = { answers: 2, background: 5 } as const;

/**
 * Where processors are few, the thread that answers requests goes first: its turns are short. On Linux a process's
 * threads have priorities of their own, and 0 is the one that asks; elsewhere it would be the whole process.
 */
function stepBack(priority: ThreadPriority): void {
  if (process.platform === "linux") setPriority(0, niceness[priority]);
}
