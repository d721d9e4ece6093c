import { el } from "../dom.ts";

/** Returns a function that gives the separator of a day, the same node for all times of the day. */
export function createDays(language: string | undefined): (at: number) => HTMLElement {
  const separators = new Map<number, HTMLElement>();
  const date = new Intl.DateTimeFormat(language, { weekday: "long", day: "numeric", month: "long" });
  const relative = new Intl.RelativeTimeFormat(language, { numeric: "auto" });
  return (at) => {
    const day = startOfDay(at);
    const known = separators.get(day);
    if (known !== undefined) return known;
    const ago = Math.round((startOfDay(Date.now()) - day) / 86_400_000);
    const text = ago < 2 ? relative.format(-ago, "day") : date.format(at);
    const separator = el("div", { class: "day" }, el("span", {}, text));
    separators.set(day, separator);
    return separator;
  };
}

export const startOfDay = (at: number): number => new Date(at).setHours(0, 0, 0, 0);
