import { Worker } from "node:worker_threads";
import { Problem } from "#domain/problem.ts";
import type { Log } from "#engine/ports.ts";
import type { IndexCall, IndexResults } from "./index-calls.ts";

export interface ThreadTask {
  readonly path: string;
}

export type ThreadReply =
  | { readonly kind: "done"; readonly result: IndexResults[IndexCall["kind"]] }
  | { readonly kind: "failed"; readonly message: string; readonly errcode: number | null };

/** Works on the index's file in a thread of its own, so that the process goes on meanwhile. */
export interface IndexThread {
  readonly started: boolean;
  /**
   * Rejects as the call does; with the signal's reason as soon as it aborts; and with `Problem` search_unavailable when
   * the thread takes too long or fails twice. What was to be written may have been written all the same.
   */
  run<C extends IndexCall>(call: C, signal?: AbortSignal): Promise<IndexResults[C["kind"]]>;
  /** Ends the thread and what waits for it; the next call starts another. */
  stop(): Promise<void>;
}

export interface IndexThreadOptions {
  readonly path: string;
  readonly log: Log;
  readonly entry?: URL;
  readonly searchMs?: number;
  readonly writeMs?: number;
}

interface Waiting {
  readonly call: IndexCall;
  readonly resolve: (result: IndexResults[IndexCall["kind"]]) => void;
  readonly reject: (reason: unknown) => void;
  attempts: number;
  /** Nobody waits for it any more. */
  dropped: boolean;
}

const attemptsMax = 2;

export function createIndexThread(options: IndexThreadOptions): IndexThread {
  const { path, log, entry = new URL("./index-worker.ts", import.meta.url) } = options;
  const { searchMs = 10_000, writeMs = 120_000 } = options;
  let worker: Worker | undefined;
  let current: Waiting | undefined;
  let timer: NodeJS.Timeout | undefined;
  /** Questions go before what is written: that can be much, and is cut into pieces for it. */
  const searches: Waiting[] = [];
  const writes: Waiting[] = [];

  function start(): Worker {
    const made = new Worker(entry, { workerData: { path } satisfies ThreadTask, env: {} });
    made.on("message", (reply: ThreadReply) => {
      if (made !== worker || current === undefined) return;
      const { resolve, reject } = current;
      settle();
      if (reply.kind === "done") resolve(reply.result);
      else reject(Object.assign(new Error(reply.message), { errcode: reply.errcode }));
      next();
    });
    made.once("error", (error) => lost(made, error));
    made.once("exit", (code) => lost(made, new Error(`the thread of the search index ended with ${code}`)));
    return made;
  }

  function settle(): void {
    clearTimeout(timer);
    current = undefined;
  }

  /** The thread is gone: what it was doing is done again by another, once. */
  function lost(gone: Worker, error: unknown): void {
    if (gone !== worker) return;
    worker = undefined;
    const interrupted = current;
    settle();
    log.warn({ err: error, path }, "the thread of the search index failed");
    if (interrupted !== undefined) {
      if (interrupted.attempts < attemptsMax)
        (interrupted.call.kind === "search" ? searches : writes).unshift(interrupted);
      else interrupted.reject(unavailable("The search index cannot be read now.", error));
    }
    next();
  }

  function next(): void {
    if (current !== undefined) return;
    const waiting = searches.shift() ?? writes.shift();
    if (waiting === undefined) {
      // Idle, it keeps no program alive.
      worker?.unref();
      return;
    }
    if (waiting.dropped) {
      next();
      return;
    }
    current = waiting;
    waiting.attempts += 1;
    const limit = waiting.call.kind === "search" ? searchMs : writeMs;
    timer = setTimeout(() => {
      const late = current;
      settle();
      void end();
      late?.reject(unavailable(`The search index took longer than ${limit / 1_000} s.`));
      next();
    }, limit);
    worker ??= start();
    worker.ref();
    worker.postMessage(waiting.call);
  }

  async function end(): Promise<void> {
    const ending = worker;
    worker = undefined;
    await ending?.terminate();
  }

  return {
    get started() {
      return worker !== undefined;
    },
    async run<C extends IndexCall>(call: C, signal?: AbortSignal) {
      signal?.throwIfAborted();
      const { promise, resolve, reject } = Promise.withResolvers<IndexResults[IndexCall["kind"]]>();
      const waiting: Waiting = { call, resolve, reject, attempts: 0, dropped: false };
      const onAbort = (): void => {
        waiting.dropped = true;
        reject(signal?.reason);
      };
      signal?.addEventListener("abort", onAbort, { once: true });
      (call.kind === "search" ? searches : writes).push(waiting);
      next();
      try {
        return (await promise) as IndexResults[C["kind"]];
      } finally {
        signal?.removeEventListener("abort", onAbort);
      }
    },
    async stop() {
      const interrupted = [...(current === undefined ? [] : [current]), ...searches.splice(0), ...writes.splice(0)];
      settle();
      await end();
      for (const { reject } of interrupted) reject(unavailable("The search index was closed."));
    },
  };
}

function unavailable(message: string, cause?: unknown): Problem {
  return new Problem("search_unavailable", message, cause === undefined ? {} : { cause });
}
