import { randomUUID } from "node:crypto";
import { afterEach, describe, expect, inject, it } from "vitest";
import { eventually } from "#test/support/eventually.ts";
import type { Fanout } from "#runtime/signals.ts";
import type { OpenWake } from "./in-process.ts";
import { createInProcessFanout, createInProcessWake } from "./in-process.ts";
import { openRedisSignals } from "./redis.ts";
import { systemClock } from "#runtime/clock.ts";
import { skipped } from "#test/support/skipped.ts";

const log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

/** `far`: the signals of another process, or of the same one where there is only one. */
function signals(name: string, open: () => Promise<{ near: Signals; far: Signals }>): void {
  describe(name, () => {
    const opened: Signals[] = [];
    afterEach(async () => {
      for (const { wake, fanout } of opened.splice(0)) {
        await wake.close();
        await fanout.close();
      }
    });
    async function start(): Promise<{ near: Signals; far: Signals }> {
      const both = await open();
      opened.push(...new Set([both.near, both.far]));
      return both;
    }

    it("notify a worker of a lane with work", async () => {
      const { near, far } = await start();
      const heard: string[] = [];
      far.wake.listen((lane) => heard.push(lane));
      near.wake.notify(["think:a", "send:b"], Date.now());
      await eventually(() => expect(heard.toSorted()).toEqual(["send:b", "think:a"]));
    });

    it("notify again of a lane that gets work after its signal was handled", async () => {
      const { near, far } = await start();
      let heard = 0;
      far.wake.listen(() => (heard += 1));
      near.wake.notify(["think:a"], Date.now());
      await eventually(() => expect(heard).toBe(1));
      near.wake.notify(["think:a"], Date.now());
      await eventually(() => expect(heard).toBe(2));
    });

    it("reach every subscriber of a topic, and no others", async () => {
      const { near, far } = await start();
      const heard: string[] = [];
      near.fanout.subscribe("one", (message) => heard.push(`near ${message}`));
      far.fanout.subscribe("one", (message) => heard.push(`far ${message}`));
      far.fanout.subscribe("two", (message) => heard.push(`two ${message}`));
      await eventually(() => {
        near.fanout.publish("one", "hello");
        expect(new Set(heard)).toEqual(new Set(["near hello", "far hello"]));
      });
    });

    it("do not reach former subscribers", async () => {
      const { near, far } = await start();
      const heard: string[] = [];
      const leave = far.fanout.subscribe("one", (message) => heard.push(message));
      far.fanout.subscribe("marker", (message) => heard.push(message));
      leave();
      await eventually(() => {
        near.fanout.publish("one", "gone");
        near.fanout.publish("marker", "here");
        expect(heard).toContain("here");
      });
      expect(heard).not.toContain("gone");
    });
  });
}

interface Signals {
  readonly wake: OpenWake;
  readonly fanout: Fanout;
}

signals("signals within a process", async () => {
  const one = { wake: createInProcessWake(), fanout: createInProcessFanout(log) };
  return { near: one, far: one };
});

const redis = inject("redis");
if (redis.url === undefined) {
  skipped("signals over Redis", redis.reason);
} else {
  const { url } = redis;
  signals("signals over Redis", async () => {
    const prefix = `test-${randomUUID()}`;
    const open = () => openRedisSignals({ url, clock: systemClock, log, prefix });
    return { near: await open(), far: await open() };
  });

  it("during an outage of Redis, requests succeed and the process notifies itself", async () => {
    const { wake, fanout, state } = await openRedisSignals({ url: "redis://127.0.0.1:1", clock: systemClock, log });
    const heard: string[] = [];
    wake.listen((lane) => heard.push(lane));
    fanout.subscribe("one", (message) => heard.push(message));
    wake.notify(["think:a"], Date.now());
    fanout.publish("one", "hello");
    await eventually(() => expect(heard.toSorted()).toEqual(["hello", "think:a"]));
    expect(await state()).toContain("REDIS_URL");
    await wake.close();
    await fanout.close();
  });
}
