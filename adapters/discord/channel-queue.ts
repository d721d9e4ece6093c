import type { Clock } from "#runtime/clock.ts";

const againMs = 1_000;

export interface ChannelQueue {
  /** One after the other for a channel, and side by side for several. `work` does not reject. */
  take(channel: string, work: () => Promise<void>): void;
  /** Resolves when it is worth to try again what has failed: after a while, or when something new comes in. */
  pause(signal: AbortSignal): Promise<void>;
  /** Resolves when nothing runs. */
  settled(): Promise<void>;
}

export function createChannelQueue(clock: Clock): ChannelQueue {
  const last = new Map<string, Promise<void>>();
  const paused = new Set<() => void>();
  return {
    take(channel, work) {
      const turn = (last.get(channel) ?? Promise.resolve()).then(work).finally(() => {
        if (last.get(channel) === turn) last.delete(channel);
      });
      last.set(channel, turn);
      for (const resume of paused) resume();
    },
    pause: (signal) =>
      new Promise((resolve) => {
        const stop = clock.timer(againMs, end);
        signal.addEventListener("abort", end, { once: true });
        paused.add(end);
        function end(): void {
          stop();
          signal.removeEventListener("abort", end);
          paused.delete(end);
          resolve();
        }
        if (signal.aborted) end();
      }),
    async settled() {
      while (last.size > 0) await Promise.all(last.values());
    },
  };
}
