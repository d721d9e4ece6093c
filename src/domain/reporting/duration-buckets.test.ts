import { array, assert, integer, property } from "fast-check";
import { expect, it } from "vitest";
import { bucketError, bucketOf, quantile } from "./duration-buckets.ts";

it("gives the median and the 90th percentile to an error of 5 percent", () => {
  expect(bucketError).toBeLessThan(0.05);
  assert(
    property(array(integer({ min: 100, max: 90 * 86_400_000 }), { minLength: 1 }), (durations) => {
      const counts = new Map<number, number>();
      for (const ms of durations) counts.set(bucketOf(ms), (counts.get(bucketOf(ms)) ?? 0) + 1);
      const sorted = durations.toSorted((a, b) => a - b);
      for (const share of [0.5, 0.9]) {
        const exact = (sorted[Math.ceil(share * sorted.length) - 1] ?? 0) / 1_000;
        const found = quantile(counts, share) ?? Number.NaN;
        // Results are rounded to hundredths of a second.
        expect(Math.abs(found - exact)).toBeLessThanOrEqual(exact * bucketError + 0.01 + (found >= 10 ? 0.5 : 0));
      }
    }),
  );
});

it("has no quantile without durations, and counts durations that were taken back as none", () => {
  expect(quantile(new Map(), 0.5)).toBeNull();
  expect(quantile(new Map([[7, 0]]), 0.5)).toBeNull();
  expect(quantile(new Map([[0, 1]]), 0.9)).toBe(0);
});
