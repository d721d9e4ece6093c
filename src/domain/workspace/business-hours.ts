export const weekdays = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"] as const;
export type Weekday = (typeof weekdays)[number];

/** Opening hours in one time zone. */
export interface BusinessHours {
  /** An IANA name such as Europe/Berlin. */
  readonly timezone: string;
  /** Minutes since midnight, in order; `to` is exclusive, 1440 is midnight. */
  readonly days: Readonly<Partial<Record<Weekday, readonly { readonly from: number; readonly to: number }[]>>>;
  /** Closed dates, such as 2027-12-24. */
  readonly holidays: readonly string[];
}

interface Local {
  readonly day: Weekday;
  readonly date: string;
  readonly minute: number;
}

const formats = new Map<string, Intl.DateTimeFormat>();

function localTime({ timezone }: BusinessHours, now: number): Local {
  let format = formats.get(timezone);
  if (format === undefined) {
    format = new Intl.DateTimeFormat("en-US", {
      timeZone: timezone,
      hourCycle: "h23",
      weekday: "long",
      year: "numeric",
      month: "2-digit",
      day: "2-digit",
      hour: "2-digit",
      minute: "2-digit",
    });
    formats.set(timezone, format);
  }
  const parts = Object.fromEntries(format.formatToParts(now).map(({ type, value }) => [type, value]));
  const { weekday = "", year = "", month = "", day = "", hour = "", minute = "" } = parts;
  return {
    day: weekdays.find((each) => each === weekday.toLowerCase()) ?? "monday",
    date: `${year}-${month}-${day}`,
    minute: Number(hour) * 60 + Number(minute),
  };
}

function hoursOn(hours: BusinessHours, { day, date }: Pick<Local, "day" | "date">) {
  return hours.holidays.includes(date) ? [] : (hours.days[day] ?? []);
}

export function isOpen(hours: BusinessHours, now: number): boolean {
  const local = localTime(hours, now);
  return hoursOn(hours, local).some(({ from, to }) => from <= local.minute && local.minute < to);
}

export interface OpeningState {
  readonly open: boolean;
  /** Closing time while open, else the next opening time: `09:00`; null when there is none. */
  readonly time: string | null;
  readonly day: Weekday;
  readonly today: boolean;
}

const dayMs = 86_400_000;
const minutesOfDay = 1_440;
const daysAhead = 21;

/** A day's name in a language. */
export function weekdayIn(language: string, day: Weekday): string {
  // The first of January 2024 was a Monday.
  const date = Date.UTC(2024, 0, 1 + weekdays.indexOf(day));
  return new Intl.DateTimeFormat(language, { weekday: "long", timeZone: "UTC" }).format(date);
}

/** Whether the company is open now, and until when. */
export function openingStateOf(hours: BusinessHours, now: number): OpeningState {
  const local = localTime(hours, now);
  const current = hoursOn(hours, local).find(({ from, to }) => from <= local.minute && local.minute < to);
  // Noon keeps the date right on days with a change of clocks.
  const noon = now + (12 * 60 - local.minute) * 60_000;
  if (current !== undefined) return closingAfter(hours, current.to, local, noon);
  for (let ahead = 0; ahead <= daysAhead; ahead += 1) {
    const there = ahead === 0 ? local : localTime(hours, noon + ahead * dayMs);
    const next = hoursOn(hours, there).find(({ from }) => ahead > 0 || from > local.minute);
    if (next !== undefined) return { open: false, time: clockTime(next.from), day: there.day, today: ahead === 0 };
  }
  return { open: false, time: null, day: local.day, today: false };
}

/** Hours that go on at midnight are one stretch: "until 02:00", not "until 24:00". */
function closingAfter(hours: BusinessHours, to: number, local: Local, noon: number): OpeningState {
  let closing = { to, day: local.day };
  let ahead = 0;
  while (closing.to === minutesOfDay && ahead < weekdays.length) {
    const next = localTime(hours, noon + (ahead + 1) * dayMs);
    const continued = hoursOn(hours, next).find(({ from }) => from === 0);
    if (continued === undefined) break;
    ahead += 1;
    closing = { to: continued.to, day: next.day };
  }
  return { open: true, time: clockTime(closing.to), day: closing.day, today: ahead === 0 };
}

function clockTime(minutes: number): string {
  return `${String(Math.floor(minutes / 60)).padStart(2, "0")}:${String(minutes % 60).padStart(2, "0")}`;
}

/** `09:00-17:30` as minutes; undefined when it is malformed, or ends before it begins. */
export function parseInterval(text: string): { readonly from: number; readonly to: number } | undefined {
  const match = /^([01]\d|2[0-4]):([0-5]\d)-([01]\d|2[0-4]):([0-5]\d)$/.exec(text.replaceAll(" ", ""));
  if (match === null) return undefined;
  const [, fromHour, fromMinute, toHour, toMinute] = match.map(Number);
  const from = (fromHour ?? 0) * 60 + (fromMinute ?? 0);
  const to = (toHour ?? 0) * 60 + (toMinute ?? 0);
  return from < to && to <= 1_440 ? { from, to } : undefined;
}
