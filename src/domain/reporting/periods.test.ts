import { expect, it } from "vitest";
import { dayOfDate } from "./local-time.ts";
import { monthCell, partsOf } from "./periods.ts";

const day = (date: string): number => dayOfDate(date) ?? Number.NaN;
const parts = (from: string, to: string) =>
  partsOf({ from: day(from), to: day(to) }).map((part) => `${part.period} ${part.to - part.from + 1}`);

it("divides days into whole months and the days around them", () => {
  expect(parts("2027-01-15", "2028-03-10")).toEqual(["day 17", `month ${28 + 306 + 31 + 29}`, "day 10"]);
  expect(parts("2027-01-01", "2027-12-31")).toEqual(["month 365"]);
  expect(parts("2027-01-01", "2027-01-31")).toEqual(["month 31"]);
  expect(parts("2027-01-02", "2027-02-27")).toEqual(["day 57"]);
  expect(parts("2027-01-31", "2027-02-28")).toEqual(["day 1", "month 28"]);
  expect(parts("2027-05-05", "2027-05-05")).toEqual(["day 1"]);
});

it("adds hours of different weekdays to different cells of a month", () => {
  const cell = { dimension: "hour", day: day("2027-01-14"), name: "9", metric: "resolved" } as const;
  expect(monthCell(cell)).toEqual({ ...cell, day: day("2027-01-01"), name: String(3 * 24 + 9) });
  expect(monthCell({ ...cell, dimension: "tag", name: "vip" }).name).toBe("vip");
});
