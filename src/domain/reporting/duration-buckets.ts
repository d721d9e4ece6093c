/** Each bucket ends 10 percent after the previous one. */
const growth = 1.1;
const firstMs = 100;
/** Longer than a century. */
const bucketMax = 320;

/**
 * The bucket of a duration. Counts of buckets can be added up over days and dimensions, and still give quantiles: the
 * middle of a bucket differs from every duration in it by less than {@link bucketError}.
 */
export function bucketOf(ms: number): number {
  if (ms < firstMs) return 0;
  return Math.min(bucketMax, 1 + Math.floor(Math.log(ms / firstMs) / Math.log(growth)));
}

/** The largest relative error of a quantile. Durations below a tenth of a second count as 0. */
export const bucketError = Math.sqrt(growth) - 1;

/** The duration that stands for a bucket, in seconds. */
function secondsOf(bucket: number): number {
  if (bucket === 0) return 0;
  const seconds = (firstMs * growth ** (bucket - 0.5)) / 1_000;
  return seconds < 10 ? Math.round(seconds * 100) / 100 : Math.round(seconds);
}

/** A quantile of the durations counted in buckets, in seconds; null if there are none. `share`: 0 to 1. */
export function quantile(counts: ReadonlyMap<number, number>, share: number): number | null {
  const buckets = [...counts].filter(([, count]) => count > 0).toSorted(([a], [b]) => a - b);
  const total = buckets.reduce((sum, [, count]) => sum + count, 0);
  let passed = 0;
  for (const [bucket, count] of buckets) {
    passed += count;
    if (passed >= share * total) return secondsOf(bucket);
  }
  return null;
}
