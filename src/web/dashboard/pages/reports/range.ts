import { dateOfDay, dayOfDate } from "#domain/reporting/local-time.ts";

/** A range of days, both included, and the range of the same length before it. */
export interface Range {
  readonly from: string;
  readonly to: string;
  readonly days: number;
  readonly before: { readonly from: string; readonly to: string };
}

export const presets = [
  { id: "today", label: "Today" },
  { id: "7", label: "7 days" },
  { id: "30", label: "30 days" },
  { id: "90", label: "90 days" },
  { id: "month", label: "This month" },
  { id: "year", label: "12 months" },
  { id: "custom", label: "Other days" },
] as const;
export type Preset = (typeof presets)[number]["id"];

export const presetOf = (text: string): Preset => presets.find(({ id }) => id === text)?.id ?? "30";

const daysMax = 731;

/** The days of a choice. Unreadable dates become the last 30 days. */
export function rangeOf(preset: Preset, today: string, given: { readonly from: string; readonly to: string }): Range {
  const last = dayOfDate(today) ?? 0;
  if (preset === "month") return ranged(last - Number(today.slice(8)) + 1, last);
  if (preset === "custom") {
    const from = dayOfDate(given.from) ?? last - 29;
    const to = dayOfDate(given.to) ?? last;
    return ranged(from, Math.min(Math.max(from, to), from + daysMax - 1));
  }
  const lengths = { today: 1, 7: 7, 30: 30, 90: 90, year: 365 };
  return ranged(last - lengths[preset] + 1, last);
}

function ranged(from: number, to: number): Range {
  const days = to - from + 1;
  const before = { from: dateOfDay(from - days), to: dateOfDay(from - 1) };
  return { from: dateOfDay(from), to: dateOfDay(to), days, before };
}

/** The date at a moment in a time zone. */
export function dateIn(timezone: string, at: number): string {
  const format = new Intl.DateTimeFormat("en", {
    timeZone: timezone,
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
  });
  const parts = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, value]));
  return `${parts["year"]}-${parts["month"]}-${parts["day"]}`;
}

const short = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", timeZone: "UTC" });
const long = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeZone: "UTC" });

export const shortDate = (date: string): string => short.format(new Date(`${date}T00:00:00Z`));
export const longDate = (date: string): string => long.format(new Date(`${date}T00:00:00Z`));
