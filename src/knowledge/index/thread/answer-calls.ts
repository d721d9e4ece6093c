import { setPriority } from "node:os";
import { parentPort } from "node:worker_threads";
import type { ThreadReply } from "./call-thread.ts";

/** The worker side of call-thread.ts. `perform` may return a promise. Runs one call at a time until the thread ends. */
export function answerCalls(perform: (call: unknown) => unknown, priority: ThreadPriority): void {
  lowerPriority(priority);
  parentPort?.on("message", (call: unknown) => {
    void reply(() => perform(call)).then((answered) => parentPort?.postMessage(answered));
  });
}

async function reply(perform: () => unknown): Promise<ThreadReply<unknown>> {
  try {
    return { kind: "done", result: await perform() };
  } catch (error) {
    // Errors lose their own properties between threads. The caller needs `errcode` to detect a damaged file.
    const { errcode } = (error ?? {}) as { readonly errcode?: unknown };
    return { kind: "failed", message: String(error), errcode: typeof errcode === "number" ? errcode : null };
  }
}

/** `answers` when a customer waits for the result, else `background`. */
export type ThreadPriority = "answers" | "background";

const niceness = { answers: 2, background: 5 } as const;

/**
 * Lowers the priority of this thread below the main thread, whose turns are short. Linux only: there id 0 is the calling
 * thread, elsewhere it is the whole process.
 */
function lowerPriority(priority: ThreadPriority): void {
  if (process.platform === "linux") setPriority(0, niceness[priority]);
}
