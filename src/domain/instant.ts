import { Problem } from "./problem.ts";

/** Calendar dates, weeks and days of the year; basic and extended, also to a month, a week or a year only. */
const datePatterns = [
  /^(?<year>\d{4})(?:-(?<month>\d{2})(?:-(?<day>\d{2}))?)?$/,
  /^(?<year>\d{4})(?<month>\d{2})(?<day>\d{2})$/,
  /^(?<year>\d{4})-?W(?<week>\d{2})$/i,
  /^(?<year>\d{4})(?:-W(?<week>\d{2})-|W(?<basicWeek>\d{2}))(?<weekday>[1-7])$/i,
  /^(?<year>\d{4})-?(?<ordinal>\d{3})$/,
];
const timePatterns = [
  /^(?<hour>\d{2})(?::(?<minute>\d{2})(?::(?<second>\d{2}))?)?(?:[.,](?<fraction>\d{1,12}))?$/,
  /^(?<hour>\d{2})(?<minute>\d{2})(?<second>\d{2})?(?:[.,](?<fraction>\d{1,12}))?$/,
];
const zonePattern = /(?:Z|(?<sign>[+-])(?<hours>\d{2})(?::?(?<minutes>\d{2}))?)$/i;
const dayMs = 86_400_000;
const hourMs = 3_600_000;
const minuteMs = 60_000;

type Groups = Readonly<Record<string, string | undefined>>;

/**
 * Epoch milliseconds of an ISO 8601 instant or date; without a zone it is UTC, and a date is its beginning. Undefined when
 * it is neither.
 */
export function parseInstant(text: string): number | undefined {
  // A plus sign that the caller did not encode arrives as a space.
  const given = text.replace(/ (?=\d{2}(?::?\d{2})?$)/, "+");
  const [date = "", time, ...rest] = given.split(/T/i);
  if (rest.length > 0) return undefined;
  const day = dayOf(matched(datePatterns, date));
  if (day === undefined || time === undefined) return day;
  // A time needs a whole date.
  if (/^(?:\d{4}|\d{4}-\d{2}|\d{4}-?W\d{2})$/i.test(date)) return undefined;
  const zone = zonePattern.exec(time);
  const ofDay = timeOf(matched(timePatterns, zone === null ? time : time.slice(0, zone.index)));
  const offset = zone === null ? 0 : offsetOf(zone.groups ?? {});
  return ofDay === undefined || offset === undefined ? undefined : day + ofDay - offset;
}

/** Throws a {@link Problem} that names the parameter. */
export function requireInstant(parameter: string, text: string): number {
  const at = parseInstant(text);
  if (at === undefined) throw new Problem("invalid_parameter", `${parameter} must be an ISO 8601 instant.`);
  return at;
}

function matched(patterns: readonly RegExp[], text: string): Groups | undefined {
  for (const pattern of patterns) {
    const match = pattern.exec(text);
    if (match !== null) return match.groups;
  }
  return undefined;
}

function dayOf(groups: Groups | undefined): number | undefined {
  if (groups === undefined) return undefined;
  const year = Number(groups["year"]);
  const week = groups["week"] ?? groups["basicWeek"];
  if (week !== undefined) return weekDayOf(year, Number(week), Number(groups["weekday"] ?? 1));
  if (groups["ordinal"] !== undefined) {
    const at = utc(year, 0, Number(groups["ordinal"]));
    return Number(groups["ordinal"]) > 0 && new Date(at).getUTCFullYear() === year ? at : undefined;
  }
  const [month, day] = [Number(groups["month"] ?? 1), Number(groups["day"] ?? 1)];
  const at = utc(year, month - 1, day);
  // Date.UTC carries values out of range over: the 30th of February becomes March.
  return new Date(at).getUTCMonth() === month - 1 && new Date(at).getUTCDate() === day ? at : undefined;
}

/** The first week of a year contains the fourth of January; weeks begin on Mondays. */
function weekDayOf(year: number, week: number, weekday: number): number | undefined {
  const fourth = utc(year, 0, 4);
  const monday = (of: number): number => of - ((new Date(of).getUTCDay() + 6) % 7) * dayMs;
  const at = monday(fourth) + ((week - 1) * 7 + weekday - 1) * dayMs;
  return week < 1 || at >= monday(utc(year + 1, 0, 4)) ? undefined : at;
}

/** Like `Date.UTC`, which takes years below 100 for 19xx. */
function utc(year: number, month: number, day: number): number {
  return new Date(0).setUTCFullYear(year, month, day);
}

/** A fraction belongs to the last given part. The last midnight of a day is 24:00, a leap second the 60th. */
function timeOf(groups: Groups | undefined): number | undefined {
  if (groups === undefined) return undefined;
  const { hour, minute, second, fraction = "0" } = groups;
  const [h, mi, s] = [Number(hour), Number(minute ?? 0), Number(second ?? 0)];
  const unit = second === undefined ? (minute === undefined ? hourMs : minuteMs) : 1_000;
  const part = Math.floor((Number(fraction.padEnd(9, "0").slice(0, 9)) * unit) / 1e9);
  if (h > 24 || mi > 59 || s > 60 || (h === 24 && mi + s + part > 0)) return undefined;
  return h * hourMs + mi * minuteMs + s * 1_000 + part;
}

function offsetOf({ sign, hours = "0", minutes = "0" }: Groups): number | undefined {
  if (Number(hours) > 23 || Number(minutes) > 59) return undefined;
  return (sign === "-" ? -1 : 1) * (Number(hours) * hourMs + Number(minutes) * minuteMs);
}
