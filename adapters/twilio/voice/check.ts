import type { Twilio } from "twilio";
import { accountApi } from "../shared/account.ts";
import { leadsTo, requireOutside } from "../messaging/check.ts";
import type { VoiceSettings } from "./config.ts";
import { stepAddress } from "./twiml.ts";

/** Returns the account's name and number. Throws an Error that names the fix when calls do not reach `webhookUrl`. */
export async function checkAccount(
  client: Twilio,
  settings: VoiceSettings,
  webhookUrl: string,
  signal: AbortSignal,
): Promise<string> {
  const { from, dialTo, sms } = settings;
  const api = accountApi(client, settings, signal);
  const friendlyName = await api.account();
  const number = await api.number(friendlyName, from);
  requireOutside(webhookUrl);
  const { capabilities } = number;
  if (!capabilities.voice) throw new Error(`${from} takes no calls: get a number at Twilio that has Voice`);
  const place = "in the Twilio console, in the number's voice configuration,";
  const elsewhere = number.trunkSid ?? number.voiceApplicationSid;
  if (typeof elsewhere === "string" && elsewhere !== "") {
    throw new Error(
      `calls to ${from} go to ${elsewhere}: ${place} choose "Webhook" instead of a SIP trunk or a TwiML app, and set "A call comes in" to POST ${webhookUrl}`,
    );
  }
  if (!leadsTo(number.voiceUrl, webhookUrl) || number.voiceMethod !== "POST") {
    throw new Error(`calls to ${from} go elsewhere: ${place} set "A call comes in" to the webhook POST ${webhookUrl}`);
  }
  const reports = stepAddress(webhookUrl, "status");
  if (!leadsTo(number.statusCallback, reports) || number.statusCallbackMethod !== "POST") {
    throw new Error(
      `Twilio does not tell us when a call to ${from} ends: ${place} set "Call status changes" to POST ${reports}`,
    );
  }
  if ((number.voiceFallbackUrl ?? "") === "") {
    throw new Error(
      `callers of ${from} would hear an error of Twilio's when this server cannot answer: ${place} set "Primary handler fails" to POST ${stepAddress(webhookUrl, "sorry")}, or to a page of another server`,
    );
  }
  const people = dialTo === undefined ? "takes messages" : `puts through to ${dialTo}`;
  const own = sms.sender.kind === "number" && sms.sender.number === from;
  return `${friendlyName}, ${from}, ${people}${own && !capabilities.sms ? "; it cannot send text messages, so set `sms_from`" : ""}`;
}
