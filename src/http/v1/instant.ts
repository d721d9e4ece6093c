const pattern =
  /^(\d{4})-(\d{2})-(\d{2})(?:T(\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?(Z|[+-]\d{2}(?::?\d{2})?)?)?$/i;

/** Epoch milliseconds of an ISO 8601 instant or date; without a zone it is UTC. Undefined when it is neither. */
export function parseInstant(text: string): number | undefined {
  // A plus sign that the caller did not encode arrives as a space.
  const match = pattern.exec(text.replace(/ (?=\d{2}:?\d{2}$)/, "+"));
  if (match === null) return undefined;
  const [, year, month, day, hour = "0", minute = "0", second = "0", fraction = "0", zone = "Z"] = match;
  const parts = [year, month, day, hour, minute, second].map(Number);
  const [y = 0, mo = 0, d = 0, h = 0, mi = 0, s = 0] = parts;
  const date = Date.UTC(y, mo - 1, d, h, mi, s);
  const read = new Date(date);
  // Date.UTC carries over what is out of range; the 30th of February is no date.
  if (read.getUTCMonth() !== mo - 1 || read.getUTCDate() !== d || h > 23 || mi > 59 || s > 59) return undefined;
  const offset = /^([+-])(\d{2}):?(\d{2})?$/.exec(zone);
  const [offsetHours, offsetRest] = [Number(offset?.[2] ?? 0), Number(offset?.[3] ?? 0)];
  if (offsetHours > 23 || offsetRest > 59) return undefined;
  const offsetMinutes = (offset?.[1] === "-" ? -1 : 1) * (offsetHours * 60 + offsetRest);
  return date + Math.floor(Number(`0.${fraction}`) * 1_000) - offsetMinutes * 60_000;
}
