import type { ChannelHost } from "#channels/contract.ts";

const retryMs = 1_000;

/** Runs work in order within a channel, and in parallel across channels. */
export interface ChannelQueue {
  /** Retries `work` until it succeeds or the connection stops. `onDone` runs only after success. */
  add(channel: string, work: () => Promise<void>, onDone?: () => void): void;
  /** Resolves when the queue is empty. */
  settled(): Promise<void>;
}

/** A gateway has no acknowledgement, so failed work blocks its channel and is retried until `signal` aborts. */
export function createChannelQueue(
  { clock, log }: Pick<ChannelHost, "clock" | "log">,
  signal: AbortSignal,
): ChannelQueue {
  const last = new Map<string, Promise<void>>();
  const paused = new Set<() => void>();

  async function untilDone(work: () => Promise<void>): Promise<boolean> {
    let logged = false;
    while (!signal.aborted) {
      try {
        await work();
        return true;
      } catch (error) {
        if (!logged) log.error({ err: error }, "discord: storing a message failed, retrying");
        logged = true;
        await pause();
      }
    }
    return false;
  }

  /** Resolves after a second, or when new work arrives. */
  function pause(): Promise<void> {
    return new Promise((resolve) => {
      const stop = clock.timer(retryMs, end);
      signal.addEventListener("abort", end, { once: true });
      paused.add(end);
      function end(): void {
        stop();
        signal.removeEventListener("abort", end);
        paused.delete(end);
        resolve();
      }
      if (signal.aborted) end();
    });
  }

  return {
    add(channel, work, onDone) {
      const run = async (): Promise<void> => {
        if (await untilDone(work)) onDone?.();
      };
      const entry = (last.get(channel) ?? Promise.resolve()).then(run).finally(() => {
        if (last.get(channel) === entry) last.delete(channel);
      });
      last.set(channel, entry);
      for (const resume of paused) resume();
    },
    async settled() {
      while (last.size > 0) await Promise.all(last.values());
    },
  };
}
