import type { ReadonlySignal } from "@preact/signals";
import { computed, signal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { ago, dateAndTime, timeOfDay } from "./time.ts";

const secondMs = 1_000;
const relativeTimesMs = 30_000;
/** Changes each second. */
export const seconds = signal(0);
const halfMinutes = signal(0);

export function startClocks(): void {
  setInterval(() => (seconds.value += 1), secondMs);
  setInterval(() => (halfMinutes.value += 1), relativeTimesMs);
}

/** A text that depends on the time. Its component renders again only when the text changes. */
export function useTicking(clock: ReadonlySignal<number>, text: () => string, inputs: readonly unknown[]): string {
  const ticking = useMemo(() => computed(() => (clock.value, text())), inputs);
  return ticking.value;
}

/** A relative time that stays right. */
export const useRelativeTime = (text: (at: number) => string, at: number): string =>
  useTicking(halfMinutes, () => text(at), [at]);

export const Ago = ({ at }: { readonly at: number }) => <>{useRelativeTime(ago, at)}</>;

export const TimeOfDay = ({ at }: { readonly at: number }) => (
  <time dateTime={new Date(at).toISOString()} title={dateAndTime(at)}>
    {timeOfDay(at)}
  </time>
);
