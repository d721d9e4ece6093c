import type { Log } from "#runtime/log.ts";
import type { ThreadPriority } from "./answer-calls.ts";
import type { CallThread } from "./call-thread.ts";
import { createCallThread } from "./call-thread.ts";
import type { IndexCall, IndexResults } from "./index-calls.ts";

export interface ThreadTask {
  readonly path: string;
  readonly priority: ThreadPriority;
}

/** Runs calls on the index file in a worker thread. */
export interface IndexThread extends Pick<CallThread<IndexCall, unknown>, "started" | "stop"> {
  run<C extends IndexCall>(call: C, signal?: AbortSignal): Promise<IndexResults[C["kind"]]>;
}

export interface IndexThreadOptions {
  readonly path: string;
  readonly log: Log;
  /** Default: `answers`. */
  readonly priority?: ThreadPriority;
  readonly entry?: URL;
  readonly searchMs?: number;
  readonly writeMs?: number;
  readonly idleMs?: number;
}

/** Searches run before writes, which are split into batches for this reason. */
export function createIndexThread(options: IndexThreadOptions): IndexThread {
  const { path, log, entry = new URL("./index-worker.ts", import.meta.url), idleMs } = options;
  const { searchMs = 10_000, writeMs = 120_000, priority = "answers" } = options;
  const thread = createCallThread<IndexCall, IndexResults[IndexCall["kind"]]>({
    entry,
    data: { path, priority } satisfies ThreadTask,
    name: "the search index",
    log,
    isUrgent: ({ kind }) => kind === "search",
    limitMs: ({ kind }) => (kind === "search" ? searchMs : writeMs),
    ...(idleMs === undefined ? {} : { idleMs }),
  });
  return {
    get started() {
      return thread.started;
    },
    run: async <C extends IndexCall>(call: C, signal?: AbortSignal) =>
      (await thread.run(call, signal)) as IndexResults[C["kind"]],
    stop: () => thread.stop(),
  };
}
