import { Worker } from "node:worker_threads";
import { Problem } from "#domain/problem.ts";
import type { Log } from "#runtime/log.ts";
import { threadEnvironment } from "#runtime/thread-environment.ts";

export type ThreadReply<Result> =
  | { readonly kind: "done"; readonly result: Result }
  | { readonly kind: "failed"; readonly message: string; readonly errcode: number | null };

/** Runs calls in a worker thread, one at a time, so that they do not block the event loop. */
export interface CallThread<Call, Result> {
  readonly started: boolean;
  /**
   * Rejects as the call does, with the signal's reason when it aborts, and with `Problem` search_unavailable when the
   * thread takes too long or fails twice. The call may have made its changes all the same.
   */
  run(call: Call, signal?: AbortSignal): Promise<Result>;
  /** Ends the thread and rejects the queued calls. The next call starts a new thread. */
  stop(): Promise<void>;
}

export interface CallThreadOptions<Call> {
  readonly entry: URL;
  readonly data: unknown;
  /** Name for log lines and errors. */
  readonly name: string;
  readonly log: Log;
  /** Urgent calls, for which a customer waits, run before the others. */
  readonly isUrgent: (call: Call) => boolean;
  readonly limitMs: (call: Call) => number;
  /** Ends the thread after this idle time, to free its memory. Absent: never. */
  readonly idleMs?: number;
}

interface QueuedCall<Call, Result> {
  readonly call: Call;
  readonly resolve: (result: Result) => void;
  readonly reject: (reason: unknown) => void;
  attempts: number;
  /** True when the caller has aborted. */
  dropped: boolean;
}

const attemptsMax = 2;

export function createCallThread<Call, Result>(options: CallThreadOptions<Call>): CallThread<Call, Result> {
  const { entry, data, name, log, isUrgent, limitMs, idleMs } = options;
  let worker: Worker | undefined;
  let current: QueuedCall<Call, Result> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let idle: NodeJS.Timeout | undefined;
  const queue = createCallQueue<Call, Result>(isUrgent);

  function start(): Worker {
    const made = new Worker(entry, { workerData: data, env: threadEnvironment() });
    made.on("message", (reply: ThreadReply<Result>) => {
      if (made !== worker || current === undefined) return;
      const { resolve, reject } = current;
      settle();
      if (reply.kind === "done") resolve(reply.result);
      else reject(Object.assign(new Error(reply.message), { errcode: reply.errcode }));
      next();
    });
    made.once("error", (error) => onThreadLost(made, error));
    made.once("exit", (code) => onThreadLost(made, new Error(`the thread of ${name} ended with ${code}`)));
    return made;
  }

  function settle(): void {
    clearTimeout(timer);
    current = undefined;
  }

  /** Called when the thread fails or exits. The interrupted call is retried once in a new thread. */
  function onThreadLost(gone: Worker, error: unknown): void {
    if (gone !== worker) return;
    worker = undefined;
    const interrupted = current;
    settle();
    log.warn({ err: error, name }, "thread: failed, restarting");
    if (interrupted !== undefined) {
      if (interrupted.attempts < attemptsMax) queue.retry(interrupted);
      else interrupted.reject(unavailable(`${capital(name)} cannot be read now.`, error));
    }
    next();
  }

  function next(): void {
    if (current !== undefined) return;
    const queued = queue.take();
    if (queued === undefined) {
      // An idle thread must not keep the process alive.
      worker?.unref();
      clearTimeout(idle);
      if (idleMs !== undefined && worker !== undefined) idle = setTimeout(() => void end(), idleMs).unref();
      return;
    }
    clearTimeout(idle);
    current = queued;
    queued.attempts += 1;
    const limit = limitMs(queued.call);
    timer = setTimeout(() => {
      const late = current;
      settle();
      void end();
      late?.reject(unavailable(`${capital(name)} took longer than ${limit / 1_000} s.`));
      next();
    }, limit);
    worker ??= start();
    worker.ref();
    worker.postMessage(queued.call);
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
    async run(call, signal) {
      signal?.throwIfAborted();
      const { queued, result } = abortableCall<Call, Result>(call, signal);
      queue.add(queued);
      next();
      return result;
    },
    async stop() {
      const interrupted = [...(current === undefined ? [] : [current]), ...queue.takeAll()];
      settle();
      clearTimeout(idle);
      await end();
      for (const { reject } of interrupted) reject(unavailable(`${capital(name)} was closed.`));
    },
  };
}

const capital = (name: string): string => `${name.slice(0, 1).toUpperCase()}${name.slice(1)}`;

function unavailable(message: string, cause?: unknown): Problem {
  return new Problem("search_unavailable", message, cause === undefined ? {} : { cause });
}

/** The result rejects as soon as the signal aborts. */
function abortableCall<Call, Result>(call: Call, signal: AbortSignal | undefined) {
  const { promise, resolve, reject } = Promise.withResolvers<Result>();
  const queued: QueuedCall<Call, Result> = { call, resolve, reject, attempts: 0, dropped: false };
  const onAbort = (): void => {
    queued.dropped = true;
    reject(signal?.reason);
  };
  signal?.addEventListener("abort", onAbort, { once: true });
  return { queued, result: promise.finally(() => signal?.removeEventListener("abort", onAbort)) };
}

/** Urgent calls come first. */
function createCallQueue<Call, Result>(isUrgent: (call: Call) => boolean) {
  const urgent: QueuedCall<Call, Result>[] = [];
  const others: QueuedCall<Call, Result>[] = [];
  const queueOf = ({ call }: QueuedCall<Call, Result>) => (isUrgent(call) ? urgent : others);

  return {
    add: (queued: QueuedCall<Call, Result>) => void queueOf(queued).push(queued),
    /** Puts an interrupted call before the others. */
    retry: (queued: QueuedCall<Call, Result>) => void queueOf(queued).unshift(queued),
    /** The next call whose caller has not aborted. */
    take(): QueuedCall<Call, Result> | undefined {
      for (;;) {
        const queued = urgent.shift() ?? others.shift();
        if (queued?.dropped !== true) return queued;
      }
    },
    takeAll: () => [...urgent.splice(0), ...others.splice(0)],
  };
}
