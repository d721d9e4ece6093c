import type { Twilio } from "twilio";
import { isInOwnNetwork } from "#channels/http/own-network.ts";
import { accountApi } from "../shared/account.ts";
import type { Settings } from "./config.ts";

/** Returns the account's name and sender. Throws an Error that names the fix when deliveries do not reach `webhookUrl`. */
export async function checkAccount(
  client: Twilio,
  settings: Settings,
  webhookUrl: string,
  signal: AbortSignal,
): Promise<string> {
  const { sender, channel } = settings;
  const api = accountApi(client, settings, signal);
  const friendlyName = await api.account();
  requireOutside(webhookUrl);
  const place = `POST ${webhookUrl}`;
  if (sender.kind === "service") {
    const service = await api.ask(client.messaging.v1.services(sender.sid).fetch());
    if (!service.useInboundWebhookOnNumber && !leadsTo(service.inboundRequestUrl, webhookUrl)) {
      throw new Error(
        `the messaging service ${service.friendlyName} delivers elsewhere: in its settings, under Integration, choose "Send a webhook" and set the request URL to ${place}`,
      );
    }
    return `${friendlyName}, messaging service ${service.friendlyName}`;
  }
  if (channel === "whatsapp" || !sender.number.startsWith("+")) {
    // Twilio's API does not show where these senders deliver.
    return `${friendlyName}, ${sender.number}, if it delivers to ${place}`;
  }
  const number = await api.number(friendlyName, sender.number);
  if (!leadsTo(number.smsUrl, webhookUrl) || number.smsMethod !== "POST") {
    throw new Error(
      `${sender.number} delivers elsewhere: in the Twilio console, in the number's messaging configuration, set "A message comes in" to the webhook ${place}`,
    );
  }
  return `${friendlyName}, ${sender.number}`;
}

/** Throws when this address cannot be reached from the internet. */
export function requireOutside(webhookUrl: string): void {
  if (!isInOwnNetwork(webhookUrl)) return;
  throw new Error(
    `Twilio cannot deliver to ${new URL(webhookUrl).origin}, which is an address within your own network: set PUBLIC_URL to the https address by which this server is reached from the internet`,
  );
}

/** The fragment configures Twilio's retries and is not part of the address. */
export const leadsTo = (url: string | null, webhookUrl: string): boolean => (url ?? "").split("#", 1)[0] === webhookUrl;
