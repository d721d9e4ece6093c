import type { VoiceDependencies, CallRequest } from "./calls/call-request.ts";
import type { WebRequest, WebResponse } from "#channels/contract.ts";
import type { Form } from "../shared/form.ts";
import { field, isSigned, parseForm } from "../shared/form.ts";
import { deliveryEvent, readReport } from "../messaging/inbound.ts";
import { reportAddress } from "../messaging/webhook.ts";
import { dialed, recorded, recordingDone, transcribed, unheard, whispered } from "./calls/handover.ts";
import { statusChanged } from "./calls/status.ts";
import { begin, hold, interrupted, next, turn } from "./calls/dialogue.ts";
import { isStep, nothing, stepAddress } from "./twiml.ts";

type Step = (dependencies: VoiceDependencies, asked: CallRequest) => Promise<string>;

/** The steps of the caller's own call. */
const steps: Readonly<Record<string, Step>> = {
  start: begin,
  turn,
  hold,
  next: interrupted,
  more: next,
  dialed,
  recorded,
  unheard,
  recording: recordingDone,
  transcript: transcribed,
  status: statusChanged,
};

const callPattern = /^CA[0-9a-fA-F]{32}$/;

export async function receive(dependencies: VoiceDependencies, request: WebRequest): Promise<WebResponse> {
  const { settings, host } = dependencies;
  if (request.method !== "POST") return { status: 405, headers: { allow: "POST" } };
  const form = parseForm(request.body);
  const at = own(request.query, "at");
  const part = own(request.query, "part");
  // Twilio signs the configured address. It must not be derived from this request's host or path.
  const url =
    part !== undefined
      ? reportAddress(host.webhookUrl, part)
      : at !== undefined && isStep(at)
        ? stepAddress(host.webhookUrl, at)
        : host.webhookUrl;
  if (!isSigned(settings.authToken, url, form, request)) return { status: 403 };
  try {
    const twiml =
      part === undefined ? await answerTo(dependencies, form, at ?? "start") : await report(dependencies, form, part);
    return { status: 200, headers: { "content-type": "text/xml" }, body: twiml };
  } catch (error) {
    host.log.error({ err: error, at }, "voice: answering a request failed");
    return { status: 503 };
  }
}

const own = (query: WebRequest["query"], name: string): string | undefined =>
  Object.hasOwn(query, name) ? query[name] : undefined;

async function answerTo(dependencies: VoiceDependencies, form: Form, at: string): Promise<string> {
  const { settings, host, twiml } = dependencies;
  const [name = "", ...rest] = at.split(".");
  const detail = rest.join(".");
  const passOver = (reason: string): string => {
    host.log.warn({ reason, at: name }, "voice: request skipped");
    return nothing;
  };
  if (field(form, "AccountSid") !== settings.accountSid) return passOver("it is for another Twilio account");
  // Steps on the dialed person's call, and the fallback, which must work without the database.
  if (name === "whisper") return callPattern.test(detail) ? twiml.askPerson(detail) : passOver("it names no call");
  if (name === "whispered") {
    return callPattern.test(detail) ? whispered(dependencies, form, detail) : passOver("it names no call");
  }
  if (name === "sorry") return twiml.sorry();
  const callSid = field(form, "CallSid");
  const found = Object.hasOwn(steps, name) ? steps[name] : undefined;
  if (!callPattern.test(callSid) || found === undefined) {
    return passOver("the form is unknown to this version");
  }
  const caller = field(form, "From");
  const asked = { form, callSid, caller, at, detail };
  // Callbacks about a recording do not hold the numbers.
  if (name === "recording" || name === "transcript") return found(dependencies, asked);
  if (field(form, "To") !== settings.from) return passOver("the call is to another number than `from`");
  if (caller === settings.from || field(form, "Direction").startsWith("outbound")) {
    return passOver("it is our own outbound call");
  }
  return found(dependencies, asked);
}

/** A delivery report on a text message to a caller. */
async function report({ host }: VoiceDependencies, form: Form, part: string): Promise<string> {
  const read = readReport("sms", form);
  const event = read === null || !/^[!-~]{1,64}$/.test(part) ? null : deliveryEvent(read, part, host.clock.now());
  if (event !== null) await host.accept(event);
  return nothing;
}
