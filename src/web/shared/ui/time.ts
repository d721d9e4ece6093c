let offsetMs = 0;

/** Times are compared with the server's clock. */
export function setServerTime(now: number): void {
  offsetMs = now - Date.now();
}

export const serverNow = (): number => Date.now() + offsetMs;

const clock = new Intl.DateTimeFormat(undefined, { hour: "numeric", minute: "2-digit" });
const day = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });
const dayYear = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", year: "numeric" });
const weekday = new Intl.DateTimeFormat(undefined, { weekday: "long", day: "numeric", month: "long" });
const whole = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

const dayMs = 86_400_000;

const startOfDay = (at: number): number => new Date(at).setHours(0, 0, 0, 0);

export const timeOfDay = (at: number): string => clock.format(at);
export const dateAndTime = (at: number): string => whole.format(at);

/** In few characters: "now", "5 min", "14:20", "Yesterday", "3 Mar". */
export function ago(at: number): string {
  const now = serverNow();
  const passed = now - at;
  if (passed < 60_000) return "now";
  if (passed < 3_600_000) return `${Math.floor(passed / 60_000)} min`;
  if (startOfDay(at) === startOfDay(now)) return clock.format(at);
  if (startOfDay(at) === startOfDay(startOfDay(now) - 1)) return "Yesterday";
  return (passed < 300 * dayMs ? day : dayYear).format(at);
}

export function dayName(at: number): string {
  const now = serverNow();
  if (startOfDay(at) === startOfDay(now)) return "Today";
  if (startOfDay(at) === startOfDay(startOfDay(now) - 1)) return "Yesterday";
  return weekday.format(at);
}

export const sameDay = (one: number, other: number): boolean => startOfDay(one) === startOfDay(other);

export function when(at: number): string {
  return sameDay(at, serverNow()) ? clock.format(at) : whole.format(at);
}

/** A length of time in few characters: "1:05", "12 min", "3 h 5 min", "2 d 4 h". */
export function span(ms: number): string {
  const seconds = Math.floor(ms / 1_000);
  if (seconds < 120) return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return `${hours} h ${minutes % 60} min`;
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/** The local date, as the value of a date field. */
export function dateText(at: number): string {
  const date = new Date(at);
  const two = (value: number): string => String(value).padStart(2, "0");
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}
