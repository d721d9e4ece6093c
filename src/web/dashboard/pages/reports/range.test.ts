import { expect, it } from "vitest";
import { dateIn, rangeOf } from "./range.ts";

const none = { from: "", to: "" };

it("compares a range with the one of the same length before it", () => {
  expect(rangeOf("7", "2026-03-03", none)).toEqual({
    from: "2026-02-25",
    to: "2026-03-03",
    days: 7,
    before: { from: "2026-02-18", to: "2026-02-24" },
  });
  expect(rangeOf("today", "2026-03-01", none).before).toEqual({ from: "2026-02-28", to: "2026-02-28" });
  expect(rangeOf("month", "2026-03-05", none)).toMatchObject({
    from: "2026-03-01",
    days: 5,
    before: { from: "2026-02-24", to: "2026-02-28" },
  });
});

it("reads other days, and bounds what cannot be read", () => {
  const custom = (from: string, to: string) => rangeOf("custom", "2026-03-05", { from, to });
  expect(custom("2026-01-01", "2026-01-31")).toMatchObject({ from: "2026-01-01", to: "2026-01-31", days: 31 });
  expect(custom("2026-01-31", "2026-01-01")).toMatchObject({ from: "2026-01-31", days: 1 });
  expect(custom("2000-01-01", "2026-01-01").days).toBe(731);
  expect(custom("no", "")).toMatchObject({ from: "2026-02-04", to: "2026-03-05" });
});

it("knows which day it is elsewhere", () => {
  const at = Date.parse("2026-03-05T20:00:00Z");
  expect([dateIn("UTC", at), dateIn("Asia/Tokyo", at)]).toEqual(["2026-03-05", "2026-03-06"]);
});
