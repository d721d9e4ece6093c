import type { ChannelHost } from "#channels/contract.ts";

/** Waits for something to happen to a call. What happened since the last time counts. */
export interface Waiter {
  wait(maxMs: number): Promise<void>;
  close(): void;
}

export function createWaiter(host: Pick<ChannelHost, "watch" | "clock">, callSid: string): Waiter {
  let happened = false;
  let wake: (() => void) | undefined;
  const unwatch = host.watch(callSid, () => {
    happened = true;
    wake?.();
  });
  return {
    async wait(maxMs) {
      if (!happened) {
        await new Promise<void>((resolve) => {
          const cancel = host.clock.timer(Math.max(maxMs, 1), resolve);
          wake = () => {
            cancel();
            resolve();
          };
        });
      }
      happened = false;
      wake = undefined;
    },
    close: unwatch,
  };
}
