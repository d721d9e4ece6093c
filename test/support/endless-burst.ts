import type { RushGauge } from "#queue/backpressure.ts";

/** A rush that begins when a test says so, and does not end. */
export function createEndlessRush(): RushGauge & { begin(): void } {
  let on = false;
  return {
    begin() {
      on = true;
    },
    isOn: () => on,
    onEnd: () => undefined,
    during: (accept) => accept(),
  };
}
