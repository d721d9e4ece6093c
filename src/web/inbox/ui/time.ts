import type { SlaView } from "#http/inbox/wire.ts";
import { el } from "./dom.ts";

let offsetMs = 0;

/** The server's clock is the one that counts. */
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

/** As short as tells: "now", "5 min", "14:20", "Yesterday", "3 Mar". */
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

export function tomorrowAtNine(): number {
  const date = new Date(serverNow());
  date.setDate(date.getDate() + 1);
  return date.setHours(9, 0, 0, 0);
}

const atRiskShare = 0.8;

interface Left {
  readonly state: SlaView["state"];
  readonly text: string;
}

/** What is left of the time that a customer may wait, at this moment. */
export function timeLeft({ elapsedMs, runningSince, targetMs }: SlaView): Left {
  const elapsed = elapsedMs + (runningSince === null ? 0 : Math.max(0, serverNow() - runningSince));
  const left = targetMs - elapsed;
  const state = left <= 0 ? "breached" : elapsed >= targetMs * atRiskShare ? "at_risk" : "in_compliance";
  if (left > 0) return { state, text: `${span(left)} left` };
  return { state, text: left > -60_000 ? "due now" : `${span(-left)} over` };
}

function span(ms: number): string {
  const seconds = Math.floor(ms / 1_000);
  if (seconds < 120) return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return `${hours} h ${minutes % 60} min`;
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

const running = new Set<{ readonly node: WeakRef<HTMLElement>; readonly sla: SlaView; readonly prefix: string }>();

/** A badge that counts down by itself for as long as it is shown. */
export function slaBadge(sla: SlaView, prefix = ""): HTMLElement {
  const node = el("span", { class: "sla" });
  const entry = { node: new WeakRef(node), sla, prefix };
  draw(node, entry);
  if (sla.runningSince !== null) running.add(entry);
  return node;
}

function draw(node: HTMLElement, { sla, prefix }: { readonly sla: SlaView; readonly prefix: string }): void {
  const { state, text } = timeLeft(sla);
  if (node.dataset["state"] !== state) node.dataset["state"] = state;
  if (node.textContent !== prefix + text) node.textContent = prefix + text;
}

const counting = new Set<{ readonly node: WeakRef<HTMLElement>; readonly until: number }>();

/** What is left until then, for as long as it is shown. */
export function countdown(until: number): HTMLElement {
  const node = el("span", { class: "countdown", title: dateAndTime(until) });
  drawCountdown(node, until);
  counting.add({ node: new WeakRef(node), until });
  return node;
}

function drawCountdown(node: HTMLElement, until: number): void {
  const left = until - serverNow();
  const text = left > 0 ? `${span(left)} left` : "the time is over; a reply may go another way";
  if (node.textContent !== text) node.textContent = text;
}

export function tickBadges(): void {
  for (const entry of counting) {
    const node = entry.node.deref();
    if (node === undefined) counting.delete(entry);
    else if (node.isConnected) drawCountdown(node, entry.until);
  }
  for (const entry of running) {
    const node = entry.node.deref();
    if (node === undefined) running.delete(entry);
    else if (node.isConnected) draw(node, entry);
  }
}
