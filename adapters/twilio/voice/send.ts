import type { Attempt, Receipt, SendContext } from "#channels/contract.ts";
import type { Part } from "#channels/inbound-event.ts";
import { DeliveryError } from "#channels/errors.ts";
import { unlessAborted } from "../shared/client.ts";
import { codeOf, deliveryError } from "../shared/errors.ts";
import { reportAddress } from "../messaging/webhook.ts";
import { findPart, senderOf as smsSenderOf } from "../messaging/send.ts";
import type { CallRecord } from "./calls/calls.ts";
import { ended } from "./calls/calls.ts";
import type { VoiceDependencies } from "./calls/call-request.ts";
import type { VoicePart } from "./render.ts";
import { comesMs } from "./calls/replies.ts";
import { numberOf } from "./config.ts";
import { stepAddress } from "./twiml.ts";
import { createWaiter } from "./calls/waiter.ts";

const awayRetryMs = 15_000;

/** "Call is not in-progress. Cannot redirect." */
const notInProgress = 21_220;
const noSuchCall = 20_404;

/** Twilio's statuses of a call that can still speak. */
const live = new Set(["queued", "ringing", "in-progress"]);

/**
 * Offers a part to the call, which speaks it in answer to Twilio's next request. A listening call sends no requests: it is
 * redirected once it has finished speaking. After the call, an agent's part is sent as a text message.
 */
export async function sendPart(dependencies: VoiceDependencies, part: Part, context: SendContext): Promise<Receipt> {
  const { host } = dependencies;
  const { thread: callSid, key, signal } = context;
  const payload = part.payload as VoicePart;
  const waiter = createWaiter(host, callSid);
  const stop = (): void => host.threads.announce(callSid);
  signal.addEventListener("abort", stop, { once: true });
  try {
    for (;;) {
      if (signal.aborted) throw new DeliveryError("not_sent", "the program stopped");
      const call = await offer(dependencies, callSid, key, payload);
      const now = host.clock.now();
      if (call === "said") return spokenReceipt(callSid, key);
      if (call === "over") return await afterCall(dependencies, payload, context);
      if (call.phase === "away") {
        if (payload.role === "agent") return await afterCall(dependencies, payload, context);
        // Without status callbacks only the API shows that the caller has hung up.
        if (!(await isLive(dependencies, callSid, signal))) continue;
        throw new DeliveryError("not_sent", "the caller talks to a person, or leaves a message", {
          retryAfterMs: awayRetryMs,
        });
      }
      if (now < call.until) {
        if (call.phase === "talking") {
          // Speech is never cut off. If the caller speaks first, the part goes out with that answer.
          throw new DeliveryError("not_sent", "the call is still speaking", { retryAfterMs: call.until - now });
        }
        await waiter.wait(call.until - now);
        continue;
      }
      if ((await interrupt(dependencies, callSid, key, signal)) === "over") continue;
      const end = host.clock.now() + comesMs;
      while (!(await isSettled(dependencies, callSid, key))) {
        const left = end - host.clock.now();
        if (left <= 0 || signal.aborted) {
          throw new DeliveryError(
            "unknown",
            "Twilio accepted the redirect, and the call has not requested the message",
          );
        }
        await waiter.wait(left);
      }
    }
  } finally {
    signal.removeEventListener("abort", stop);
    waiter.close();
  }
}

/** Calls a number, speaks the text and hangs up. */
export async function callFirst(
  { client, settings, twiml }: VoiceDependencies,
  to: string,
  text: string,
  signal: AbortSignal,
): Promise<void> {
  try {
    await unlessAborted(client.calls.create({ from: settings.from, to, twiml: twiml.hangUp([text]) }), signal);
  } catch (error) {
    throw deliveryError(error);
  }
}

const spokenReceipt = (callSid: string, key: string): Receipt => ({ externalId: `${callSid}.${key}`, state: "sent" });

const offer = (
  { calls }: VoiceDependencies,
  callSid: string,
  key: string,
  { speech, links, more }: VoicePart,
): Promise<CallRecord | "said" | "over"> =>
  calls.change<CallRecord | "said" | "over">(callSid, (call) => {
    if (call.said.includes(key)) return [undefined, "said"];
    if (call.phase === "over") return [undefined, "over"];
    if (call.phase === "away" || call.offered.some((offered) => offered.key === key)) return [undefined, call];
    return [{ offered: [...call.offered, { key, speech, links: [...links], more }] }, call];
  });

async function isSettled({ calls }: VoiceDependencies, callSid: string, key: string): Promise<boolean> {
  const call = await calls.read(callSid);
  return call === undefined || call.said.includes(key) || call.phase !== "talking";
}

/** Takes back an offered part; false: it was already spoken. */
const withdraw = ({ calls }: VoiceDependencies, callSid: string, key: string): Promise<boolean> =>
  calls.change(callSid, (call) => [
    call.offered.some((offered) => offered.key === key)
      ? { offered: call.offered.filter((offered) => offered.key !== key) }
      : undefined,
    !call.said.includes(key),
  ]);

/** Redirects the call, so that it requests the next step now. */
async function interrupt(
  dependencies: VoiceDependencies,
  callSid: string,
  key: string,
  signal: AbortSignal,
): Promise<"asked" | "over"> {
  const { client, host } = dependencies;
  try {
    if (!(await isLive(dependencies, callSid, signal))) return "over";
    const url = stepAddress(host.webhookUrl, `next.${key}`);
    await unlessAborted(client.calls(callSid).update({ url, method: "POST" }), signal);
    return "asked";
  } catch (error) {
    if (codeOf(error) === notInProgress) {
      await end(dependencies, callSid);
      return "over";
    }
    const failure = deliveryError(error);
    // The part is reported as failed: a later turn must not speak it.
    if (failure.outcome === "rejected" && !(await withdraw(dependencies, callSid, key))) return "asked";
    throw failure;
  }
}

const end = ({ calls }: VoiceDependencies, callSid: string): Promise<void> =>
  calls.change<void>(callSid, (call) => [call.phase === "over" ? undefined : ended(call), undefined]);

/** Whether the call is still live at Twilio. If not, its record is marked as over. */
async function isLive(dependencies: VoiceDependencies, callSid: string, signal: AbortSignal): Promise<boolean> {
  try {
    const { status } = await unlessAborted(dependencies.client.calls(callSid).fetch(), signal);
    if (live.has(status)) return true;
  } catch (error) {
    if (codeOf(error) !== noSuchCall) {
      const failure = deliveryError(error);
      // The failed request was a read: nothing was sent.
      throw failure.outcome === "unknown" ? new DeliveryError("not_sent", failure.message) : failure;
    }
  }
  await end(dependencies, callSid);
  return false;
}

const hungUp = "the caller has hung up before it could be spoken";

/** Sends an agent's part as a text message after the call. The bot's parts are rejected. */
async function afterCall(
  dependencies: VoiceDependencies,
  { role, sms }: VoicePart,
  { thread: callSid, key, signal }: SendContext,
): Promise<Receipt> {
  const { client, settings, host } = dependencies;
  if (!(await withdraw(dependencies, callSid, key))) return spokenReceipt(callSid, key);
  if (role === "assistant") throw new DeliveryError("rejected", hungUp);
  const to = await callerOf(dependencies, callSid, signal);
  let sid: unknown;
  try {
    const sent = await unlessAborted(
      client.messages.create({
        to,
        body: sms,
        ...smsSenderOf(settings.sms),
        statusCallback: reportAddress(host.webhookUrl, key),
      }),
      signal,
    );
    ({ sid } = sent);
  } catch (error) {
    throw deliveryError(error);
  }
  if (typeof sid !== "string") throw new DeliveryError("unknown", "the answer is not Twilio's");
  return { externalId: sid, state: "sent" };
}

/** The caller's number is not stored for this: Twilio's record of the call has it. */
async function callerOf(
  { client }: Pick<VoiceDependencies, "client">,
  callSid: string,
  signal: AbortSignal,
): Promise<string> {
  let from: unknown;
  try {
    ({ from } = await unlessAborted(client.calls(callSid).fetch(), signal));
  } catch (error) {
    if (codeOf(error) === noSuchCall) {
      throw new DeliveryError("rejected", "the call is over, and Twilio does not know it any more");
    }
    const failure = deliveryError(error);
    // The failed request was a read: no message was sent.
    throw failure.outcome === "unknown" ? new DeliveryError("not_sent", failure.message) : failure;
  }
  const number = typeof from === "string" ? numberOf(from) : undefined;
  if (number === undefined) {
    throw new DeliveryError("rejected", "the call is over, and the caller withholds their number");
  }
  return number;
}

/** A part counts as spoken once a request of Twilio took it; a text message is searched in Twilio's list. */
export async function reconcilePart(
  dependencies: VoiceDependencies,
  context: SendContext,
  attempt: Attempt,
): Promise<Receipt | null> {
  const { client, settings, host, calls } = dependencies;
  const { thread: callSid, key, signal } = context;
  const payload = attempt.part.payload as VoicePart;
  const call = await calls.read(callSid);
  if (call?.said.includes(key) === true) return spokenReceipt(callSid, key);
  // During a call only agents' parts in the phase `away` are sent as text messages.
  if (payload.role === "assistant" || (call !== undefined && call.phase !== "over" && call.phase !== "away"))
    return null;
  const to = await callerOf(dependencies, callSid, signal);
  const part: Part = { text: attempt.part.text, payload: { body: payload.sms } };
  return findPart({ client, settings: settings.sms, host }, { ...context, thread: to }, { ...attempt, part });
}
