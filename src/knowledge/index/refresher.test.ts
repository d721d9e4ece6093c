import { expect, it } from "vitest";
import { eventually } from "#test/support/eventually.ts";
import { openIndexRefresher } from "./refresher.ts";
import type { Log } from "#runtime/log.ts";
import { createHandMovedClock } from "#test/support/hand-moved-clock.ts";

it("retries a failing workspace with backoff, warns once, and logs its recovery", async () => {
  const clock = createHandMovedClock(1_000_000);
  const logged: string[] = [];
  const log = {
    debug: () => undefined,
    info: (_: object, text: string) => logged.push(`info: ${text}`),
    warn: (_: object, text: string) => logged.push(`warn: ${text}`),
    error: () => undefined,
  } as unknown as Log;
  const tries = { broken: 0, well: 0 };
  let broken = true;
  const refresher = openIndexRefresher({
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
      await eventually(() => expect(clock.waiting()).toBe(1));
      clock.advance(2_000);
    }
    await eventually(() => expect(clock.waiting()).toBe(1));
  };
  await pass(600_000);
  expect(tries.well).toBe(1);
  expect(tries.broken).toBeGreaterThan(10);
  expect(tries.broken).toBeLessThan(20);
  expect(logged).toEqual(["warn: index: refresh failed, retrying"]);
  expect(refresher.trouble()).toBe("the index of one workspace cannot be brought up to date: the log tells why");
  broken = false;
  await pass(62_000);
  expect(refresher.trouble()).toBeNull();
  expect(logged.at(-1)).toBe("info: index: up to date again");
  expect(logged).toHaveLength(2);
  await refresher.close();
});
