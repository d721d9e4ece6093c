import { vi } from "vitest";

/**
 * Repeats the check until it neither throws nor returns false. The limit ends what never comes: a busy machine may need
 * ten times as long as a quiet one.
 */
export const eventually = <T>(check: () => T | Promise<T>): Promise<T> =>
  vi.waitFor(
    async () => {
      const result = await check();
      if (result === false) throw new Error("not yet");
      return result;
    },
    { timeout: 40_000, interval: 10 },
  );
