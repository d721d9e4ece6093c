import { describe, expect, it } from "vitest";
import { createRush } from "#engine/rush.ts";

const eventually = { timeout: 20_000 };

describe("a rush of events", () => {
  it("is on when many senders wait at the same time, and over when none does and no more come", async () => {
    const rush = createRush();
    let ends = 0;
    rush.onEnd(() => (ends += 1));
    for (let n = 0; n < 40; n += 1) await rush.during(async () => n);
    expect(rush.isOn()).toBe(false);
    for (const end of [1, 2]) {
      const stored = Promise.withResolvers<undefined>();
      const senders = Array.from({ length: 20 }, () => rush.during(() => stored.promise));
      expect(rush.isOn()).toBe(true);
      stored.resolve(undefined);
      await Promise.all(senders);
      expect(rush.isOn()).toBe(true);
      await expect.poll(() => ends, eventually).toBe(end);
      expect(rush.isOn()).toBe(false);
    }
  });

  it("goes on for as long as somebody waits, or writes again as soon as they are answered", async () => {
    const rush = createRush();
    let ended = false;
    rush.onEnd(() => (ended = true));
    const stored = Promise.withResolvers<undefined>();
    const senders = Array.from({ length: 20 }, () => rush.during(() => stored.promise));
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(ended).toBe(false);
    stored.reject(new Error("the disk is full"));
    await Promise.allSettled(senders);
    for (const until = performance.now() + 50; performance.now() < until;) {
      await rush.during(() => new Promise((resolve) => setImmediate(resolve)));
    }
    expect(ended).toBe(false);
    await expect.poll(() => ended, eventually).toBe(true);
  });
});
