import type { ChannelHost } from "#channels/contract.ts";

/** Waits for a change of a call. A change since the last wait ends the wait at once. */
export interface Waiter {
  wait(maxMs: number): Promise<void>;
  close(): void;
}

export function createWaiter(host: Pick<ChannelHost, "threads" | "clock">, callSid: string): Waiter {
  let changed = false;
  let notify: (() => void) | undefined;
  const unwatch = host.threads.watch(callSid, () => {
    changed = true;
    notify?.();
  });
  return {
    async wait(maxMs) {
      if (!changed) {
        await new Promise<void>((resolve) => {
          const cancel = host.clock.timer(Math.max(maxMs, 1), resolve);
          notify = () => {
            cancel();
            resolve();
          };
        });
      }
      changed = false;
      notify = undefined;
    },
    close: unwatch,
  };
}
