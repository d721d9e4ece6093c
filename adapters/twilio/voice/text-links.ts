import { unlessAborted } from "../shared/client.ts";
import { deliveryError } from "../shared/errors.ts";
import { senderOf as smsSenderOf } from "../messaging/send.ts";
import { leftBehind, replyTo } from "./calls/calls.ts";
import { noticeOf } from "./calls/handover.ts";
import type { CallRequest, VoiceDependencies } from "./calls/call-request.ts";
import { numberOf } from "./config.ts";
import { listening } from "./calls/replies.ts";
import { createWaiter } from "./calls/waiter.ts";

/** Time limits for sending and for the lookup in Twilio's list. Both are short: the caller waits on the line. */
const createMs = 4_000;
const lookMs = 2_000;
/** After this the result is known, or never will be. */
const patienceMs = createMs + lookMs;
const listedMax = 50;
const skewMs = 5 * 60_000;

/** Reported to the caller and to the agents. `unknown`: Twilio may have the message. */
type LinkDelivery = "sent" | "failed" | "unknown";

/**
 * Sends the links of the last answer as a text message and speaks the result. It bypasses the queue, since the caller
 * waits for the result. The start is stored first and cleared once the result is known, so a repeated request, or the
 * caller asking again, first searches Twilio's list.
 */
export async function textLinks(dependencies: VoiceDependencies, asked: CallRequest): Promise<string> {
  const { host, calls, settings } = dependencies;
  const { callSid, caller, at, detail } = asked;
  const to = numberOf(caller);
  const now = host.clock.now();
  const [before, links, since] = await calls.change<readonly [string | undefined, readonly string[], number | null]>(
    callSid,
    (call) => {
      const reply = replyTo(call, at);
      if (reply !== undefined) return [undefined, [reply, [], null]];
      if (call.texting !== null) return [undefined, [undefined, call.links, call.textingSince]];
      return [{ texting: at, textingSince: now }, [undefined, call.links, null]];
    },
  );
  const made = before ?? (since === null ? undefined : await replyOf(dependencies, asked, since + patienceMs));
  if (made !== undefined) return made;
  const outcome = to === undefined ? "failed" : await send(dependencies, to, links.join("\n"), since, callSid);
  await host.accept(
    noticeOf(callSid, `links:${callSid}:${detail}`, now, [
      outcome === "sent"
        ? `The caller asked for the links, and was sent them as a text message: ${links.join(" ")}`
        : outcome === "failed"
          ? "The caller asked for the links, which could not be sent as a text message to their number."
          : "The caller asked for the links. The connection to Twilio broke, and the text message may not have arrived.",
    ]),
  );
  return calls.change(callSid, (call) => {
    const reply = replyTo(call, at) ?? leftBehind(call, detail);
    if (reply !== undefined) return [undefined, reply];
    const [change, twiml] = listening(dependencies, call, at, [
      outcome === "sent" ? settings.texts.link_sent : settings.texts.link_failed,
    ]);
    return [outcome === "unknown" ? change : { ...change, texting: null }, twiml];
  });
}

/** Waits until `end` for the reply to an earlier post of the same request. */
async function replyOf(
  { host, calls }: VoiceDependencies,
  { callSid, at }: CallRequest,
  end: number,
): Promise<string | undefined> {
  const waiter = createWaiter(host, callSid);
  try {
    for (;;) {
      const call = await calls.read(callSid);
      const [reply, left] = [replyTo(call, at), end - host.clock.now()];
      if (reply !== undefined || call?.texting !== at || left <= 0) return reply;
      await waiter.wait(left);
    }
  } finally {
    waiter.close();
  }
}

/** `since`: the start of an earlier attempt with an unknown result. It is searched in Twilio's list before a new send. */
async function send(
  { client, settings, host }: VoiceDependencies,
  to: string,
  body: string,
  since: number | null,
  call: string,
): Promise<LinkDelivery> {
  const isListed = async (from: number): Promise<boolean> => {
    const listed = await unlessAborted(client.messages.list({ to, limit: listedMax }), AbortSignal.timeout(lookMs));
    return listed.some((message) => message.body === body && message.dateCreated.getTime() >= from - skewMs);
  };
  const begun = since ?? host.clock.now();
  try {
    if (since !== null) {
      if (await isListed(since)) return "sent";
      if (host.clock.now() - since < patienceMs) return "unknown";
    }
    const created = client.messages.create({ to, body, ...smsSenderOf(settings.sms) });
    await unlessAborted(created, AbortSignal.timeout(createMs));
    return "sent";
  } catch (error) {
    const failure = deliveryError(error);
    host.log.warn({ err: failure, call }, "voice: sending links to the caller failed");
    if (failure.outcome !== "unknown") return "failed";
    return (await isListed(begun).catch(() => false)) ? "sent" : "unknown";
  }
}
