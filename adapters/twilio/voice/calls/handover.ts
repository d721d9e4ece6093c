import type { InboundEvent } from "#channels/contract.ts";
import type { Form } from "../../shared/form.ts";
import { field } from "../../shared/form.ts";
import type { CallRecord } from "./calls.ts";
import { replyTo, withReply } from "./calls.ts";
import { senderOf } from "./caller.ts";
import type { CallRequest, VoiceDependencies } from "./call-request.ts";
import { nothing, speechMs } from "../twiml.ts";

type Change = readonly [Partial<CallRecord>, string];
type CallStep = Pick<CallRequest, "callSid" | "at" | "caller">;

/** Longer than any talk with a person, and than any message. */
const awayMs = 4 * 3_600_000;

/** Dials `dial_to`, or records a message. */
export function handOver(
  { host, settings, twiml }: VoiceDependencies,
  call: CallRecord,
  { callSid, at, caller }: CallStep,
  speech: readonly string[],
): Change {
  const { texts, dialTo } = settings;
  const number = call.turn + 1;
  const reply =
    dialTo === undefined
      ? twiml.record(number, speech.length > 0 ? [...speech, texts.leave_message] : [texts.nobody, texts.leave_message])
      : twiml.dial(number, callSid, speech.length > 0 ? speech : [texts.connecting]);
  const until = host.clock.now() + awayMs;
  return [{ ...call, ...withReply(call, at, reply), phase: "away", until, turn: number, taken: false, caller }, reply];
}

/** The dialed person pressed a key. */
export async function whispered(
  { host, calls, settings, twiml }: VoiceDependencies,
  form: Form,
  callSid: string,
): Promise<string> {
  if (field(form, "Digits") !== "1") return twiml.hangUp([]);
  await calls.change(callSid, (call) => [call.taken ? undefined : { taken: true }, undefined]);
  await host.accept(
    noticeOf(callSid, `taken:${callSid}:${field(form, "CallSid").slice(0, 40)}`, host.clock.now(), [
      `The caller was put through to ${settings.dialTo ?? "a person"}, who took the call.`,
    ]),
  );
  return nothing;
}

/** The call to the person ended or was not answered. */
export async function dialed({ host, calls, settings, twiml }: VoiceDependencies, asked: CallRequest): Promise<string> {
  const { form, callSid, at, detail } = asked;
  const { texts } = settings;
  const [reply, taken] = await calls.change<readonly [string, boolean]>(callSid, (call) => {
    const bridged = call.taken || field(form, "DialBridged") === "true";
    const before = replyTo(call, at);
    if (before !== undefined) return [undefined, [before, bridged]];
    const number = call.turn + 1;
    const made = bridged ? twiml.hangUp([texts.goodbye]) : twiml.record(number, [texts.nobody, texts.leave_message]);
    return [{ ...withReply(call, at, made), phase: "away", turn: number }, [made, bridged]];
  });
  const seconds = field(form, "DialCallDuration");
  const sentence = taken
    ? `The caller has talked to ${settings.dialTo ?? "a person"}${seconds === "" ? "" : ` for ${durationOf(seconds)}`}.`
    : `Nobody took the call at ${settings.dialTo ?? "the telephone"}: the caller was asked to leave a message.`;
  await host.accept(noticeOf(callSid, `dialed:${callSid}:${detail}`, host.clock.now(), [sentence]));
  return reply;
}

/** The caller finished a message. */
export async function recorded(dependencies: VoiceDependencies, asked: CallRequest): Promise<string> {
  const { calls, settings, twiml } = dependencies;
  await acceptRecording(dependencies, asked, asked.caller);
  return calls.change(asked.callSid, (call) => {
    const before = replyTo(call, asked.at);
    if (before !== undefined) return [undefined, before];
    const reply = twiml.hangUp([settings.texts.message_taken]);
    return [withReply(call, asked.at, reply), reply];
  });
}

/** The recorder heard nothing. */
export async function unheard(
  { host, calls, settings, twiml }: VoiceDependencies,
  asked: CallRequest,
): Promise<string> {
  return calls.change(asked.callSid, (call) => {
    const before = replyTo(call, asked.at);
    if (before !== undefined) return [undefined, before];
    const reply = twiml.hangUp([settings.texts.goodbye]);
    return [
      { ...withReply(call, asked.at, reply), until: host.clock.now() + speechMs([settings.texts.goodbye]) },
      reply,
    ];
  });
}

/** Twilio's callback when a recording is complete: it also arrives when the caller hung up instead of pressing a key. */
export async function recordingDone(dependencies: VoiceDependencies, asked: CallRequest): Promise<string> {
  if (field(asked.form, "RecordingStatus") !== "completed") return nothing;
  const known = await dependencies.host.threads.correspondence(asked.callSid, 1);
  // Without a conversation this would open one for a caller without a number.
  if (known !== null) await acceptRecording(dependencies, asked, await callerOf(dependencies, asked));
  return nothing;
}

/** The caller's number, from the record where the callback lacks it. */
async function callerOf({ calls }: VoiceDependencies, { callSid, caller }: CallRequest): Promise<string> {
  return caller === "" ? ((await calls.read(callSid))?.caller ?? "") : caller;
}

const recordingPattern = /^RE[0-9a-fA-F]{32}$/;
const recordingId = (sid: string): string => `recording:${sid}`;

async function acceptRecording(
  { host, settings }: VoiceDependencies,
  { form, callSid }: CallRequest,
  caller: string,
): Promise<void> {
  const sid = field(form, "RecordingSid");
  const url = field(form, "RecordingUrl");
  if (!recordingPattern.test(sid) || url === "" || url.length > 2_000) {
    host.log.warn({ call: callSid }, "voice: unknown recording skipped");
    return;
  }
  const seconds = field(form, "RecordingDuration");
  await host.accept({
    kind: "message",
    externalId: recordingId(sid),
    messageExternalId: recordingId(sid),
    thread: callSid,
    sender: senderOf(callSid, caller),
    sentAt: host.clock.now(),
    text: `[voice message${seconds === "" ? "" : `, ${durationOf(seconds)}`}]`,
    metadata: { recording: sid },
    files: [{ ref: `${url}.mp3#${host.clock.now()}`, name: "voice-message.mp3", mediaType: "audio/mpeg", bytes: null }],
    peopleOnly: settings.transcribe
      ? "The caller has left a message. What Twilio understands of it follows in its place."
      : "The caller has left a message.",
  });
}

/** Twilio's transcript: an edit that replaces the message's placeholder text. Either may arrive first. */
export async function transcribed(dependencies: VoiceDependencies, asked: CallRequest): Promise<string> {
  const { host } = dependencies;
  const { form, callSid } = asked;
  const sid = field(form, "RecordingSid");
  const text = field(form, "TranscriptionText").trim();
  if (field(form, "TranscriptionStatus") !== "completed" || text === "" || !recordingPattern.test(sid)) return nothing;
  const event: InboundEvent = {
    kind: "edit",
    externalId: `transcript:${sid}`,
    messageExternalId: recordingId(sid),
    thread: callSid,
    sender: senderOf(callSid, await callerOf(dependencies, asked)),
    sentAt: host.clock.now(),
    text: `[voice message] ${text}`,
  };
  await host.accept(event);
  return nothing;
}

export function noticeOf(
  callSid: string,
  externalId: string,
  sentAt: number,
  sentences: readonly string[],
): Extract<InboundEvent, { kind: "notice" }> {
  return { kind: "notice", externalId, thread: callSid, sentAt, text: sentences.join(" ") };
}

/** `83` as `1:23`. */
export function durationOf(seconds: string): string {
  const all = Math.min(Math.max(Math.round(Number(seconds)) || 0, 0), 359_999);
  return `${Math.floor(all / 60)}:${String(all % 60).padStart(2, "0")}`;
}
