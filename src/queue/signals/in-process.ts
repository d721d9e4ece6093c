import type { Fanout, Wake } from "#runtime/signals.ts";
import type { Log } from "#runtime/log.ts";

/** Signals within this process: the embedded default. */
export function createInProcessFanout(log: Log): Fanout {
  const topics = new Map<string, Set<(message: string) => void>>();
  return {
    publish(topic, message) {
      for (const listener of topics.get(topic) ?? []) {
        try {
          listener(message);
        } catch (error) {
          log.error({ err: error, topic }, "signals: listener failed");
        }
      }
    },
    subscribe(topic, listener) {
      const listeners = topics.get(topic) ?? new Set();
      topics.set(topic, listeners.add(listener));
      return () => {
        listeners.delete(listener);
        if (listeners.size === 0) topics.delete(topic);
      };
    },
    close: async () => topics.clear(),
  };
}

export interface OpenWake extends Wake {
  /** Calls back for every lane that may have work. */
  listen(listener: (lane: string, dueAt: number) => void): void;
  close(): Promise<void>;
}

export function createInProcessWake(): OpenWake {
  let listener: ((lane: string, dueAt: number) => void) | undefined;
  return {
    notify(lanes, dueAt) {
      for (const lane of lanes) listener?.(lane, dueAt);
    },
    listen(next) {
      listener = next;
    },
    close: async () => {
      listener = undefined;
    },
  };
}
