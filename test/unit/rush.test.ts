import { describe, expect, it } from "vitest";
import { createRush } from "#engine/rush.ts";

const eventually = { timeout: 20_000 };

describe("a rush of events", () => {
  it("is on when many senders wait at the same time, and over when none does and no more come", async () => {
    const rush = createRush();
    let ends = 0;
    rush.onEnd(() => (ends += 1));
    const times = (count: number, call: () => void): void => Array.from({ length: count }).forEach(call);
    times(10, rush.came);
    times(10, rush.answered);
    times(10, rush.came);
    expect(rush.isOn()).toBe(false);
    times(10, rush.came);
    expect(rush.isOn()).toBe(true);
    times(20, rush.answered);
    expect(rush.isOn()).toBe(true);
    await expect.poll(() => ends, eventually).toBe(1);
    expect(rush.isOn()).toBe(false);
    times(20, rush.came);
    expect(rush.isOn()).toBe(true);
    times(20, rush.answered);
    await expect.poll(() => ends, eventually).toBe(2);
  });

  it("goes on for as long as somebody waits, or writes again as soon as they are answered", async () => {
    const rush = createRush();
    let ended = false;
    rush.onEnd(() => (ended = true));
    Array.from({ length: 20 }).forEach(rush.came);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(ended).toBe(false);
    Array.from({ length: 20 }).forEach(rush.answered);
    for (const until = performance.now() + 50; performance.now() < until;) {
      rush.came();
      rush.answered();
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(ended).toBe(false);
    await expect.poll(() => ended, eventually).toBe(true);
  });
});
