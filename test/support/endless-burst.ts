import type { InboundBurstGauge } from "#queue/backpressure.ts";

/** An inbound burst that a test starts and that never ends. */
export function createEndlessBurst(): InboundBurstGauge & { begin(): void } {
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
