import type { CallRecord } from "./calls.ts";
import { withReply } from "./calls.ts";
import type { VoiceDependencies } from "./call-request.ts";
import { speechMs } from "../twiml.ts";

/** How late the next request of a call may arrive. */
export const lateMs = 12_000;
/** How long a redirected call may take to request its message. */
export const comesMs = 10_000;

/** Speaks, and listens. */
export function listening(
  { host, twiml }: Pick<VoiceDependencies, "host" | "twiml">,
  call: CallRecord,
  at: string,
  speech: readonly string[],
): readonly [Partial<CallRecord>, string] {
  const number = call.turn + 1;
  const reply = twiml.listen(number, speech);
  const until = host.clock.now() + speechMs(speech);
  return [{ ...call, ...withReply(call, at, reply), phase: "talking", until, turn: number }, reply];
}

/** Holds the line, then continues at the step `to`. */
export function holding(
  { host, twiml }: Pick<VoiceDependencies, "host" | "twiml">,
  call: CallRecord,
  at: string,
  to: string,
  word: string | undefined,
): readonly [Partial<CallRecord>, string] {
  const reply = twiml.hold(to, word);
  const until = host.clock.now() + (word === undefined ? 0 : speechMs([word])) + lateMs;
  return [{ ...withReply(call, at, reply), phase: "holding", until }, reply];
}
