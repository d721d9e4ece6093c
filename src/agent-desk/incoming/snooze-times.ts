const hourMs = 3_600_000;
const morningHour = 9;

/** Tomorrow at nine o'clock in this time zone, or in UTC if it is unknown. Epoch milliseconds. */
export function tomorrowMorning(now: number, timeZone: string | null): number {
  const zone = isKnown(timeZone) ? timeZone : "UTC";
  const today = partsIn(zone, now);
  const wallTime = Date.UTC(today.year, today.month - 1, today.day + 1, morningHour);
  // The zone's offset at the result can differ from today's (summer time). The second round is exact.
  let at = wallTime;
  for (let i = 0; i < 2; i += 1) at = wallTime - offsetAt(zone, at);
  return at;
}

function isKnown(timeZone: string | null): timeZone is string {
  if (timeZone === null) return false;
  try {
    return Intl.DateTimeFormat("en", { timeZone }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}

function offsetAt(timeZone: string, at: number): number {
  const { year, month, day, hour, minute } = partsIn(timeZone, at);
  return Date.UTC(year, month - 1, day, hour, minute) - Math.floor(at / 60_000) * 60_000;
}

function partsIn(timeZone: string, at: number) {
  const format = new Intl.DateTimeFormat("en-GB", {
    timeZone,
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    hourCycle: "h23",
  });
  const of = new Map(format.formatToParts(at).map(({ type, value }) => [type, Number(value)]));
  const part = (type: Intl.DateTimeFormatPartTypes): number => of.get(type) ?? 0;
  return { year: part("year"), month: part("month"), day: part("day"), hour: part("hour"), minute: part("minute") };
}

export const hoursFrom = (now: number, hours: number): number => now + hours * hourMs;
