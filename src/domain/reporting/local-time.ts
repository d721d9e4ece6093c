/** An hour of a calendar day in a time zone. */
export interface LocalHour {
  /** Days from 1970-01-01 to the local date. */
  readonly day: number;
  readonly hour: number;
}

const dayMs = 86_400_000;
/** Offsets of time zones are multiples of this, so all moments within it have the same local hour. */
const quarterMs = 900_000;
const cachedMax = 5_000;

interface Zone {
  readonly format: Intl.DateTimeFormat;
  readonly hours: Map<number, LocalHour>;
}

const zones = new Map<string, Zone>();

function zoneOf(timezone: string): Zone {
  let zone = zones.get(timezone);
  if (zone === undefined) {
    const format = new Intl.DateTimeFormat("en-US", {
      timeZone: timezone,
      hourCycle: "h23",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
    });
    zones.set(timezone, (zone = { format, hours: new Map() }));
  }
  return zone;
}

export function localHour(timezone: string, at: number): LocalHour {
  const { format, hours } = zoneOf(timezone);
  const quarter = Math.floor(at / quarterMs);
  let local = hours.get(quarter);
  if (local === undefined) {
    const parts = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, Number(value)]));
    const { year = 1970, month = 1, day = 1, hour = 0 } = parts;
    local = { day: Date.UTC(year, month - 1, day) / dayMs, hour };
    if (hours.size >= cachedMax) hours.clear();
    hours.set(quarter, local);
  }
  return local;
}

/** The moment at which a local day begins. */
export function startOfDay(timezone: string, day: number): number {
  // No zone is further than 15 hours from UTC. The first quarter of the day is searched for between these bounds.
  let before = (day * dayMs - 15 * 3_600_000) / quarterMs;
  let from = (day * dayMs + 15 * 3_600_000) / quarterMs;
  while (from - before > 1) {
    const middle = Math.floor((before + from) / 2);
    if (localHour(timezone, middle * quarterMs).day < day) before = middle;
    else from = middle;
  }
  return from * quarterMs;
}

/** `2027-01-31` of a day. */
export const dateOfDay = (day: number): string => new Date(day * dayMs).toISOString().slice(0, 10);

/** The day of a date such as `2027-01-31`; undefined if there is no such date. */
export function dayOfDate(date: string): number | undefined {
  const at = /^\d{4}-\d{2}-\d{2}$/.test(date) ? Date.parse(`${date}T00:00:00Z`) : Number.NaN;
  // Some engines read the 30th of February as the 2nd of March.
  return Number.isNaN(at) || dateOfDay(at / dayMs) !== date ? undefined : at / dayMs;
}

/** The hour of the week, 0 to 167, from Monday 00:00. */
export const hourOfWeek = (day: number, hour: number): number => ((day + 3) % 7) * 24 + hour;

export function isTimezone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat("en-US", { timeZone: name }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}
