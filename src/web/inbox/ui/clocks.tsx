import type { SlaView } from "#http/inbox/wire.ts";
import { seconds, useTicking } from "#web/shared/ui/clocks.tsx";
import { dateAndTime } from "#web/shared/ui/time.ts";
import { countdownText, timeLeft } from "./time-left.ts";

/** A badge that counts down. */
export function SlaBadge({ sla, prefix = "" }: { readonly sla: SlaView; readonly prefix?: string }) {
  const state = useTicking(seconds, () => timeLeft(sla).state, [sla]);
  const text = useTicking(seconds, () => timeLeft(sla).text, [sla]);
  return (
    <span class="sla" data-state={state}>
      {prefix + text}
    </span>
  );
}

/** The time that is left until then. */
export const Countdown = ({ until }: { readonly until: number }) => (
  <span class="countdown" title={dateAndTime(until)}>
    {useTicking(seconds, () => countdownText(until), [until])}
  </span>
);
