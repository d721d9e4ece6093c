import { RetryLater } from "#queue/retry-later.ts";
import { isSearchAway } from "#conversations/answering/turn-work.ts";
import { TypesenseAway } from "#database/search/typesense/client.ts";

const backoffMaxMs = 600_000;

/** One second, doubled with each try, up to ten minutes; never sooner than the platform asked for. */
export function backoffMs(attempts: number, error: unknown): number {
  // Typesense is our own server: retrying often costs nothing, and finds it soon after its return.
  if (error instanceof TypesenseAway) return 2_000 + Math.random() * 2_000;
  if (isSearchAway(error)) return Math.min(error.retryAfterS ?? 5, 30) * 1_000 * (0.75 + Math.random() / 2);
  const own = Math.min(1_000 * 2 ** attempts, backoffMaxMs) * (0.75 + Math.random() / 2);
  return Math.ceil(Math.max(own, error instanceof RetryLater ? (error.retryAfterMs ?? 0) : 0));
}
