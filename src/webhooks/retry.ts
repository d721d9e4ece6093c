const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;

/** Time to the next try, by how often it was tried. After the last one an event is given up. */
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

/** So that what failed together does not come back together. */
const jitterShare = 0.1;
const retryAfterMaxMs = dayMs;

/** Milliseconds to the next try, never sooner than planned or asked for; null: no more tries. `attempts`: made so far. */
export function retryDelayMs(attempts: number, retryAfterMs: number | null): number | null {
  const planned = scheduleMs[attempts - 1];
  if (planned === undefined) return null;
  const own = planned * (1 + Math.random() * jitterShare);
  return Math.ceil(Math.max(own, Math.min(retryAfterMs ?? 0, retryAfterMaxMs)));
}

/** What `Retry-After` of an answer asks for, seconds or a date; null where it asks for nothing that can be read. */
export function retryAfterMs(status: number, header: string | null, now: number): number | null {
  if ((status !== 429 && status !== 503) || header === null) return null;
  const text = header.trim();
  if (/^\d{1,12}$/.test(text)) return Number(text) * 1_000;
  const at = Date.parse(text);
  return Number.isNaN(at) ? null : Math.max(0, at - now);
}

/** How long an endpoint may fail without a success in between. */
export const failingMaxMs = 5 * dayMs;
/** After so long without a failure, nothing having been sent, an old failure tells nothing about the endpoint any more. */
const failingGapMs = 2 * dayMs;

/** Since when the endpoint has been failing, given that it fails now. */
export function failingSince(
  before: { readonly failing_since: number | null; readonly failed_at: number | null },
  now: number,
): number {
  if (before.failing_since === null || before.failed_at === null) return now;
  return now - before.failed_at > failingGapMs ? now : before.failing_since;
}
