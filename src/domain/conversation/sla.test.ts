import { expect, it } from "vitest";
import { clockOnStatus, freshClock } from "./sla.ts";

const minute = 60_000;

it("continues the SLA clock of a resolve that is taken back, without the time spent resolved", () => {
  const resolved = clockOnStatus(freshClock(0), "escalated", "resolved", 20 * minute);
  expect(resolved).toEqual({ elapsedMs: 20 * minute, runningSince: null });
  const at = 90 * minute;
  expect(clockOnStatus(resolved, "resolved", "open", at, true)).toEqual({ elapsedMs: 20 * minute, runningSince: at });
  expect(clockOnStatus(resolved, "resolved", "open", at)).toEqual(freshClock(at));
});
