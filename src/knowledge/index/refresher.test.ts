import { expect, it, vi } from "vitest";
import { openIndexRefresher } from "./refresher.ts";
import type { Log } from "#runtime/log.ts";
import { createHandMovedClock } from "#test/support/hand-moved-clock.ts";

it("tries what cannot be prepared more and more rarely, warns once, and tells when it is well again", async () => {
  const clock = createHandMovedClock(1_000_000);
  const told: string[] = [];
  const log = {
    debug: () => undefined,
    info: (_: object, text: string) => told.push(`info: ${text}`),
    warn: (_: object, text: string) => told.push(`warn: ${text}`),
    error: () => undefined,
  } as unknown as Log;
  const tries = { broken: 0, well: 0 };
  let broken = true;
  const keeper = openIndexRefresher({
    indexes: [
      {
        name: "the index",
        state: async () => "a state",
        states: async () =>
          new Map([
            ["broken", 1],
            ["well", 1],
          ]),
        async prepare(workspaceId) {
          tries[workspaceId as keyof typeof tries] += 1;
          if (workspaceId === "broken" && broken) throw new Error("the disk is full");
        },
      },
    ],
    clock,
    log,
  });
  /** Each look sets the timer for the next one. */
  const pass = async (ms: number): Promise<void> => {
    for (const end = clock.now() + ms; clock.now() < end;) {
      await vi.waitFor(() => expect(clock.waiting()).toBe(1), { timeout: 10_000, interval: 1 });
      clock.advance(2_000);
    }
    await vi.waitFor(() => expect(clock.waiting()).toBe(1), { timeout: 10_000, interval: 1 });
  };
  await pass(600_000);
  expect(tries.well).toBe(1);
  expect(tries.broken).toBeGreaterThan(10);
  expect(tries.broken).toBeLessThan(20);
  expect(told).toEqual(["warn: index: refresh failed, retrying"]);
  expect(keeper.trouble()).toBe("the index of one workspace cannot be brought up to date: the log tells why");
  broken = false;
  await pass(62_000);
  expect(keeper.trouble()).toBeNull();
  expect(told.at(-1)).toBe("info: index: up to date again");
  expect(told).toHaveLength(2);
  await keeper.close();
});
