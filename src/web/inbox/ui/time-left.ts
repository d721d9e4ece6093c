import type { SlaView } from "#http/inbox/wire.ts";
import { serverNow, span } from "#web/shared/ui/time.ts";

const atRiskShare = 0.8;

interface TimeLeft {
  readonly state: SlaView["state"];
  readonly text: string;
}

/** The time that the customer may still wait. */
export function timeLeft({ elapsedMs, runningSince, targetMs }: SlaView): TimeLeft {
  const elapsed = elapsedMs + (runningSince === null ? 0 : Math.max(0, serverNow() - runningSince));
  const left = targetMs - elapsed;
  const state = left <= 0 ? "breached" : elapsed >= targetMs * atRiskShare ? "at_risk" : "in_compliance";
  if (left > 0) return { state, text: `${span(left)} left` };
  return { state, text: left > -60_000 ? "due now" : `${span(-left)} over` };
}

export const countdownText = (until: number): string => {
  const left = until - serverNow();
  return left > 0 ? `${span(left)} left` : "the time is over; a reply may go another way";
};

export function tomorrowAtNine(): number {
  const date = new Date(serverNow());
  date.setDate(date.getDate() + 1);
  return date.setHours(9, 0, 0, 0);
}
