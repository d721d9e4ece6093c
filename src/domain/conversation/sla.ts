import type { Status } from "./status.ts";
import { slaRuns } from "./status.ts";

export const slaStates = ["in_compliance", "at_risk", "breached"] as const;
export type SlaState = (typeof slaStates)[number];

export const priorities = ["low", "normal", "high", "urgent"] as const;
export type Priority = (typeof priorities)[number];

/** Minutes that a conversation may wait in `open` and `escalated`, by priority. */
export type SlaTargets = Readonly<Record<Priority, number>>;

export const defaultSlaTargets: SlaTargets = { urgent: 15, high: 30, normal: 60, low: 240 };

const atRiskShare = 0.8;

/** Time waited so far, and since when the clock runs; `runningSince` is null while it is paused or stopped. */
export interface SlaClock {
  readonly elapsedMs: number;
  readonly runningSince: number | null;
}

export const freshClock = (now: number): SlaClock => ({ elapsedMs: 0, runningSince: now });

/**
 * The clock after a change of status: it runs in `open` and `escalated`, and reopening starts a new one, also by way of
 * a snooze. A resolve that is taken back (`undoes`) continues the old one, without the time spent resolved.
 */
export function clockOnStatus(clock: SlaClock, from: Status, to: Status, now: number, undoes = false): SlaClock {
  const closed = !undoes && (from === "resolved" || from === "archived");
  if (closed && slaRuns(to)) return freshClock(now);
  if (closed && to === "snoozed") return { elapsedMs: 0, runningSince: null };
  const elapsedMs =
    clock.runningSince === null ? clock.elapsedMs : clock.elapsedMs + Math.max(0, now - clock.runningSince);
  return { elapsedMs, runningSince: slaRuns(to) ? now : null };
}

export function slaState(clock: SlaClock, targetMinutes: number, now: number): SlaState {
  const elapsed = clock.elapsedMs + (clock.runningSince === null ? 0 : Math.max(0, now - clock.runningSince));
  const target = targetMinutes * 60_000;
  if (elapsed >= target) return "breached";
  return elapsed >= target * atRiskShare ? "at_risk" : "in_compliance";
}

/** When the target will be reached, in epoch milliseconds; null while the clock is stopped. */
export const slaDueAt = ({ elapsedMs, runningSince }: SlaClock, targetMinutes: number): number | null =>
  runningSince === null ? null : runningSince - elapsedMs + targetMinutes * 60_000;

/** When the state will next change by itself, in epoch milliseconds; null when it will not. */
export function nextSlaChange(clock: SlaClock, targetMinutes: number, now: number): number | null {
  if (clock.runningSince === null) return null;
  const start = clock.runningSince - clock.elapsedMs;
  const target = targetMinutes * 60_000;
  switch (slaState(clock, targetMinutes, now)) {
    case "in_compliance":
      return start + Math.ceil(target * atRiskShare);
    case "at_risk":
      return start + target;
    case "breached":
      return null;
  }
}
