import { DeliveryError } from "#channel/errors.ts";
import { unlessAborted } from "../twilio/client.ts";
import { deliveryError } from "../twilio/failures.ts";
import { senderOf as smsSenderOf } from "../twilio/send.ts";
import { replyTo } from "./calls.ts";
import { noticeOf } from "./handover.ts";
import type { Asked, VoiceDependencies } from "./receive.ts";
import { numberOf } from "./settings.ts";
import { listening } from "./replies.ts";

/** The caller waits meanwhile. */
const patienceMs = 6_000;
const listedMax = 50;
const skewMs = 5 * 60_000;

/**
 * Sends the links of what was spoken last as a text message, and tells the caller what came of it: they wait for that, so
 * it needs no queue. That it begins is stored before, so that a request that is repeated sends nothing twice.
 */
export async function textLinks(dependencies: VoiceDependencies, asked: Asked): Promise<string> {
  const { host, calls, settings } = dependencies;
  const { callSid, caller, at } = asked;
  const to = numberOf(caller);
  const now = host.clock.now();
  const [before, links, since] = await calls.change<readonly [string | undefined, readonly string[], number | null]>(
    callSid,
    (call) => {
      const reply = replyTo(call, at);
      if (reply !== undefined) return [undefined, [reply, [], null]];
      if (call.texting === at) return [undefined, [undefined, call.links, call.textingSince]];
      return [{ texting: at, textingSince: now }, [undefined, call.links, null]];
    },
  );
  if (before !== undefined) return before;
  let sent = false;
  try {
    if (to !== undefined) {
      await send(dependencies, to, links.join("\n"), since);
      sent = true;
    }
  } catch (error) {
    host.log.warn({ err: deliveryError(error), call: callSid }, "the links could not be sent to the caller");
  }
  await host.accept(
    noticeOf(callSid, `links:${callSid}:${asked.detail}`, now, [
      sent
        ? `The caller asked for the links, and was sent them as a text message: ${links.join(" ")}`
        : "The caller asked for the links, which could not be sent as a text message to their number.",
    ]),
  );
  return calls.change(callSid, (call) => {
    const reply = replyTo(call, at);
    if (reply !== undefined) return [undefined, reply];
    return listening(dependencies, call, at, [sent ? settings.texts.link_sent : settings.texts.link_failed]);
  });
}

/** `since`: it was begun then, and what came of it is not known: what Twilio has is not sent again. */
async function send(
  { client, settings, host }: VoiceDependencies,
  to: string,
  body: string,
  since: number | null,
): Promise<void> {
  const signal = AbortSignal.timeout(patienceMs);
  if (since !== null) {
    const listed = await unlessAborted(client.messages.list({ to, limit: listedMax }), signal);
    if (listed.some((message) => message.body === body && message.dateCreated.getTime() >= since - skewMs)) return;
    if (host.clock.now() - since < patienceMs) throw new DeliveryError("unknown", "it may be on its way");
  }
  await unlessAborted(client.messages.create({ to, body, ...smsSenderOf(settings.sms) }), signal);
}
