export interface Clock {
  now(): number;
  /** Calls back once after `delayMs`. Returns a function that cancels it. */
  timer(delayMs: number, callback: () => void): () => void;
}

const timeoutMaxMs = 2_147_483_647;

export const systemClock: Clock = {
  now: () => Date.now(),
  timer(delayMs, callback) {
    const handle = setTimeout(callback, Math.min(Math.max(0, delayMs), timeoutMaxMs));
    return () => clearTimeout(handle);
  },
};
