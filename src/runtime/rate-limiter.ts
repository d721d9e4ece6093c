import type { Clock } from "./clock.ts";

const namesMax = 50_000;

/** Limits of one process against floods, counted in memory in fixed time windows. Not a quota. */
export function createRateLimiter(clock: Clock) {
  const counts = new Map<string, { ends: number; taken: number }>();

  function take(name: string, max: number, windowMs: number): boolean {
    const now = clock.now();
    const window = counts.get(name);
    if (window !== undefined && window.ends > now && window.ends - now <= windowMs) {
      if (window.taken >= max) return false;
      window.taken += 1;
      return true;
    }
    if (counts.size >= namesMax) deleteWindows(now);
    counts.set(name, { ends: now + windowMs, taken: 1 });
    return max > 0;
  }

  /** Deletes ended windows; where too few have ended, the oldest ones too. */
  function deleteWindows(now: number): void {
    for (const [name, window] of counts) {
      if (window.ends <= now) counts.delete(name);
    }
    for (const name of counts.keys()) {
      if (counts.size < namesMax) break;
      counts.delete(name);
    }
  }

  return { take };
}
