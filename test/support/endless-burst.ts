import type { InboundBurstGauge } from "#queue/backpressure.ts";

/** A rush that begins when a test says so, and does not end. */
export function createEndlessRush(): InboundBurstGauge & { begin(): void } {
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
