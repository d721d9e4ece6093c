import type { Misbehaviour } from "#test/support/channels/conformance-target.ts";
import type { FakeTwilio, Fault } from "./fake-twilio.ts";

/** Longer than it takes to find that nobody listens. */
const awayMs = 300;

/** What comes of the next call; `refused`: what Twilio says of it where it refuses it for good. */
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
