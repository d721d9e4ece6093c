import type { Clock } from "#runtime/clock.ts";

const failuresMax = 3;
const openMs = 30_000;
const openMaxMs = 300_000;

/** Stops calls to a server after several failures in a row, for a time that doubles with each further failure. */
export interface CircuitBreaker {
  /** Whether the last calls failed. Once {@link waitMs} is over, one call can be tried. */
  isOpen(): boolean;
  waitMs(): number;
  succeeded(): void;
  failed(message: string): void;
  /** The message of the last failure; null after a success. */
  trouble(): string | null;
}

export function createCircuitBreaker(clock: Clock): CircuitBreaker {
  let failures = 0;
  let openUntil = 0;
  let last: string | null = null;
  return {
    isOpen: () => failures >= failuresMax,
    waitMs: () => Math.max(0, openUntil - clock.now()),
    succeeded() {
      failures = 0;
      last = null;
    },
    failed(message) {
      failures += 1;
      last = message;
      openUntil = clock.now() + Math.min(openMaxMs, openMs * 2 ** Math.max(0, failures - failuresMax));
    },
    trouble: () => last,
  };
}
