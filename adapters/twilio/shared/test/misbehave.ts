import type { Misbehaviour } from "#test/support/channels/conformance-target.ts";
import type { FakeTwilio, Fault } from "./fake-twilio.ts";

/** Longer than a refused connection takes. */
const awayMs = 300;

/** Sets the fault of the next request; `refused`: the one for a final refusal. */
export function misbehaves(twilio: FakeTwilio, how: Misbehaviour, refused: Fault): void {
  switch (how) {
    case "refuse":
      twilio.fail(refused);
      return;
    case "limit":
      twilio.fail({ kind: "limit", retryAfterS: 17 });
      return;
    case "hang_up_after_commit":
      twilio.fail({ kind: "hang_up_after_commit" });
      return;
    case "hang_up":
      twilio.fail({ kind: "hang_up_before_commit" });
      return;
    case "unreachable":
      void twilio.goAway().then(() => setTimeout(() => void twilio.comeBack(), awayMs));
  }
}
