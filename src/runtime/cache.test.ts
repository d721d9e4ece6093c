import { describe, expect, it } from "vitest";
import { createCache } from "./cache.ts";

describe("a cache", () => {
  const keys = (count: number): number[] => Array.from({ length: count }, (_, key) => key);

  it("never exceeds its size", () => {
    const recent = createCache<number, number>(100);
    for (const key of keys(1_000)) recent.set(key, key, 3);
    const held = keys(1_000).filter((key) => recent.get(key) === key);
    expect(held.length).toBeGreaterThan(0);
    expect(held.length * 3).toBeLessThanOrEqual(100);
  });

  it("keeps frequently used values", () => {
    const recent = createCache<number, string>(10);
    recent.set(-1, "often", 1);
    for (const key of keys(1_000)) {
      recent.set(key, "once", 1);
      expect(recent.get(-1)).toBe("often");
    }
    expect(recent.get(0)).toBeUndefined();
  });

  it("ignores a value that is too large", () => {
    const recent = createCache<string, string>(10);
    recent.set("small", "kept", 1);
    recent.set("huge", "left", 11);
    expect([recent.get("small"), recent.get("huge")]).toEqual(["kept", undefined]);
  });

  it("is empty after `clear`", () => {
    const recent = createCache<string, string>(4);
    for (const key of ["a", "b", "c"]) recent.set(key, key, 1);
    recent.clear();
    expect(["a", "b", "c"].map((key) => recent.get(key))).toEqual([undefined, undefined, undefined]);
  });
});
