import { field } from "../../shared/form.ts";
import { ended } from "./calls.ts";
import { durationOf, noticeOf } from "./handover.ts";
import type { CallRequest, VoiceDependencies } from "./call-request.ts";
import { numberOf } from "../config.ts";
import { nothing } from "../twiml.ts";

const ends: Readonly<Record<string, string>> = {
  completed: "The call has ended",
  busy: "The call has ended: the line was busy",
  "no-answer": "The call has ended: it was not answered",
  failed: "The call has ended: it could not be connected",
  canceled: "The call has ended: the caller hung up before it was answered",
};

/** A status callback. They arrive in any order: an ended call stays ended. */
export async function statusChanged({ host, calls }: VoiceDependencies, asked: CallRequest): Promise<string> {
  const { form, callSid, caller } = asked;
  const status = field(form, "CallStatus");
  const how = Object.hasOwn(ends, status) ? ends[status] : undefined;
  if (how === undefined) return nothing;
  await calls.change(callSid, (call) => [call.phase === "over" ? undefined : ended(call), undefined]);
  const seconds = field(form, "CallDuration");
  const number = numberOf(caller);
  await host.accept(
    noticeOf(callSid, `ended:${callSid}`, host.clock.now(), [
      `${how}${/^[1-9][0-9]*$/.test(seconds) ? `, after ${durationOf(seconds)}` : ""}.`,
      number === undefined
        ? "The caller withholds their number: they cannot be answered here."
        : `What you write here is sent to ${number} as a text message.`,
    ]),
  );
  return nothing;
}
