const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;

/** Delay before each retry. After the last one an event is abandoned. */
const scheduleMs = [
  5_000,
  5 * minuteMs,
  30 * minuteMs,
  2 * hourMs,
  5 * hourMs,
  10 * hourMs,
  14 * hourMs,
  20 * hourMs,
  24 * hourMs,
] as const;

/** Spreads the retries of events that failed together. */
const jitterShare = 0.1;
const retryAfterMaxMs = dayMs;

/** Milliseconds to the next attempt, at least the planned and the requested delay; null: no further attempts. `attempts`: made so far. */
export function retryDelayMs(attempts: number, askedMs: number | null): number | null {
  const planned = scheduleMs[attempts - 1];
  if (planned === undefined) return null;
  const own = planned * (1 + Math.random() * jitterShare);
  return Math.ceil(Math.max(own, Math.min(askedMs ?? 0, retryAfterMaxMs)));
}

/** The delay of a `Retry-After` header, which holds seconds or a date; null without a valid one. */
export function retryAfterMs(status: number, header: string | null, now: number): number | null {
  if ((status !== 429 && status !== 503) || header === null) return null;
  const text = header.trim();
  if (/^\d{1,12}$/.test(text)) return Number(text) * 1_000;
  const at = Date.parse(text);
  return Number.isNaN(at) ? null : Math.max(0, at - now);
}

/** How long an endpoint may fail without a success in between. */
export const failingMaxMs = 5 * dayMs;
/** After this time without deliveries, an old failure is ignored. */
const failingGapMs = 2 * dayMs;

/** The start of the endpoint's failures, called when it fails. */
export function failingSince(
  before: { readonly failing_since: number | null; readonly failed_at: number | null },
  now: number,
): number {
  if (before.failing_since === null || before.failed_at === null) return now;
  return now - before.failed_at > failingGapMs ? now : before.failing_since;
}
