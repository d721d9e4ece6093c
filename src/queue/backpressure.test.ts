import { describe, expect, it } from "vitest";
import type { InboundBurstGauge } from "./backpressure.ts";
import { createInboundBurst } from "./backpressure.ts";

/** Starts this many senders at the same time, which all wait for one promise. */
function burst(rush: InboundBurstGauge, count = 20) {
  const stored = Promise.withResolvers<undefined>();
  const senders = Promise.allSettled(Array.from({ length: count }, () => rush.during(() => stored.promise)));
  return { ...stored, senders };
}

/** Each sends the next when the one before is acknowledged, until it is stopped. */
function traffic(rush: InboundBurstGauge, senders: number, store: () => Promise<unknown>) {
  let goesOn = true;
  const send = async (): Promise<void> => {
    while (goesOn) await rush.during(store);
  };
  const ended = Promise.all(Array.from({ length: senders }, send));
  return async () => {
    goesOn = false;
    await ended;
  };
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe("a burst of events", () => {
  it("begins when many senders wait at the same time, and ends when none waits", async () => {
    const rush = createInboundBurst();
    let ends = 0;
    rush.onEnd(() => (ends += 1));
    for (let n = 0; n < 40; n += 1) await rush.during(async () => n);
    expect(rush.isOn()).toBe(false);
    for (const end of [1, 2]) {
      const { resolve, senders } = burst(rush);
      expect(rush.isOn()).toBe(true);
      resolve(undefined);
      await senders;
      expect(rush.isOn()).toBe(true);
      await expect.poll(() => ends).toBe(end);
      expect(rush.isOn()).toBe(false);
    }
  });

  it("continues while many senders wait, or send again right after the acknowledgement", async () => {
    // With a clock that does not advance, so that a slow machine cannot end the burst.
    const rush = createInboundBurst(() => 0);
    let ended = false;
    rush.onEnd(() => (ended = true));
    const { reject, senders } = burst(rush);
    await pause(50);
    expect(ended).toBe(false);
    const stop = traffic(rush, 20, () => new Promise((resolve) => setImmediate(resolve)));
    reject(new Error("the disk is full"));
    await senders;
    await pause(50);
    expect(ended).toBe(false);
    await stop();
    await expect.poll(() => ended).toBe(true);
  });

  it("ends while only a few senders wait, as in steady traffic", async () => {
    const rush = createInboundBurst(() => 0);
    const { resolve, senders } = burst(rush);
    const stop = traffic(rush, 5, () => pause(5));
    const locked = burst(rush, 1);
    resolve(undefined);
    await senders;
    await expect.poll(() => rush.isOn()).toBe(false);
    locked.resolve(undefined);
    await stop();
  });

  it("ends after two seconds in any case, and does not begin again at once", async () => {
    let now = 0;
    const rush = createInboundBurst(() => now);
    const { resolve, senders } = burst(rush);
    now = 1_999;
    await pause(20);
    expect(rush.isOn()).toBe(true);
    now = 2_000;
    await expect.poll(() => rush.isOn()).toBe(false);
    now = 11_999;
    const more = burst(rush);
    expect(rush.isOn()).toBe(false);
    now = 12_000;
    const last = burst(rush, 1);
    expect(rush.isOn()).toBe(true);
    for (const each of [more, last]) each.resolve(undefined);
    resolve(undefined);
    await senders;
  });
});
