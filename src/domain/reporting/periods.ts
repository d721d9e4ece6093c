import type { Cell } from "./cells.ts";
import { hourOfWeek } from "./local-time.ts";

const dayMs = 86_400_000;

/** The first and the last day of a report, in days since 1970. */
export interface Days {
  readonly from: number;
  readonly to: number;
}

/** Counts are kept by day, and added up by month, so that a year has few rows. */
export type Period = "day" | "month";

/** The first day of the month that is `months` after the month of `day`. */
export function monthOf(day: number, months = 0): number {
  const date = new Date(day * dayMs);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + months, 1) / dayMs;
}

/** The cell of the month that a cell of a day is added to. Hours of different weekdays stay apart. */
export const monthCell = <Given extends Cell>(cell: Given): Given => ({
  ...cell,
  day: monthOf(cell.day),
  name: cell.dimension === "hour" ? String(hourOfWeek(cell.day, Number(cell.name))) : cell.name,
});

export type Part = Days & { readonly period: Period };

/** Divides days into whole months and the days before and after them. */
export function partsOf({ from, to }: Days): readonly Part[] {
  const firstMonth = monthOf(from) === from ? from : monthOf(from, 1);
  const afterMonths = monthOf(to + 1);
  if (afterMonths <= firstMonth) return [{ period: "day", from, to }];
  const parts: readonly Part[] = [
    { period: "day", from, to: firstMonth - 1 },
    { period: "month", from: firstMonth, to: afterMonths - 1 },
    { period: "day", from: afterMonths, to },
  ];
  return parts.filter((part) => part.from <= part.to);
}
