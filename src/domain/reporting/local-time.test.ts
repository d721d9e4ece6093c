import { expect, it } from "vitest";
import { dateOfDay, dayOfDate, hourOfWeek, localHour, startOfDay } from "./local-time.ts";

const at = (time: string): number => Date.parse(time);

it("names the day and the hour in the time zone, across changes of clocks", () => {
  const local = (timezone: string, time: string): string => {
    const { day, hour } = localHour(timezone, at(time));
    return `${dateOfDay(day)} ${hour}`;
  };
  expect(local("Europe/Berlin", "2026-03-28T23:30:00Z")).toBe("2026-03-29 0");
  expect(local("Europe/Berlin", "2026-03-29T00:59:00Z")).toBe("2026-03-29 1");
  expect(local("Europe/Berlin", "2026-03-29T01:00:00Z")).toBe("2026-03-29 3");
  expect(local("Asia/Kathmandu", "2026-01-01T18:14:59Z")).toBe("2026-01-01 23");
  expect(local("Asia/Kathmandu", "2026-01-01T18:15:00Z")).toBe("2026-01-02 0");
  expect(local("Pacific/Kiritimati", "2026-01-01T10:00:00Z")).toBe("2026-01-02 0");
});

it("finds the moment at which a day begins", () => {
  for (const [timezone, date, start] of [
    ["Europe/Berlin", "2026-03-29", "2026-03-28T23:00:00Z"],
    ["Europe/Berlin", "2026-03-30", "2026-03-29T22:00:00Z"],
    ["America/Los_Angeles", "2026-07-01", "2026-07-01T07:00:00Z"],
    ["Asia/Kathmandu", "2026-01-02", "2026-01-01T18:15:00Z"],
    ["Pacific/Kiritimati", "2026-01-02", "2026-01-01T10:00:00Z"],
  ] as const) {
    expect(startOfDay(timezone, dayOfDate(date) ?? Number.NaN)).toBe(at(start));
  }
});

it("accepts dates of the calendar only", () => {
  expect(dayOfDate("1970-01-02")).toBe(1);
  for (const wrong of ["2026-02-30", "2026-13-01", "26-01-01", "2026-01-01T00:00:00Z", ""]) {
    expect(dayOfDate(wrong)).toBeUndefined();
  }
});

it("counts the hours of a week from Monday", () => {
  expect(hourOfWeek(dayOfDate("2026-11-23") ?? 0, 0)).toBe(0);
  expect(hourOfWeek(dayOfDate("2026-11-29") ?? 0, 23)).toBe(167);
});
