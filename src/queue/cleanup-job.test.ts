import { pino } from "pino";
import { expect, it } from "vitest";
import { openCleanupJob } from "./cleanup-job.ts";
import { createHandMovedClock } from "#test/support/hand-moved-clock.ts";

it("runs the other jobs when one fails, and retries the failed one", async () => {
  const clock = createHandMovedClock(0);
  const logged: string[] = [];
  const ran: string[] = [];
  const cleanup = openCleanupJob({
    clock,
    log: pino({ level: "warn" }, { write: (line: string) => void logged.push(line) }),
    jobs: {
      first: async () => {
        ran.push("first");
        throw new Error("first fails");
      },
      second: async () => ran.push("second"),
    },
  });
  clock.advance(600_000);
  await expect.poll(() => clock.waiting()).toBe(1);
  expect(ran).toEqual(["first", "second"]);
  expect(logged.map((line) => JSON.parse(line) as object)).toMatchObject([
    { job: "first", msg: "cleanup: job failed, retrying", err: { message: "first fails" } },
  ]);
  clock.advance(600_000);
  await expect.poll(() => ran.length).toBe(4);
  await cleanup.close();
});
