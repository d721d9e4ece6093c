import type { Clock } from "#channels/contract.ts";

const timeoutMaxMs = 2_147_483_647;

export const systemClock: Clock = {
  now: () => Date.now(),
  timer(delayMs, callback) {
    const handle = setTimeout(callback, Math.min(Math.max(0, delayMs), timeoutMaxMs));
    return () => clearTimeout(handle);
  },
};
