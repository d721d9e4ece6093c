import { BlockList, isIP } from "node:net";
import type { Twilio } from "twilio";
import { questions } from "./account.ts";
import type { Settings } from "./settings.ts";

/** Asks Twilio whose account it is, and whether it delivers to us. */
export async function checkAccount(
  client: Twilio,
  settings: Settings,
  webhookUrl: string,
  signal: AbortSignal,
): Promise<string> {
  const { sender, channel } = settings;
  const asking = questions(client, settings, signal);
  const friendlyName = await asking.account();
  requireOutside(webhookUrl);
  const place = `POST ${webhookUrl}`;
  if (sender.kind === "service") {
    const service = await asking.ask(client.messaging.v1.services(sender.sid).fetch());
    if (!service.useInboundWebhookOnNumber && !leadsTo(service.inboundRequestUrl, webhookUrl)) {
      throw new Error(
        `the messaging service ${service.friendlyName} delivers elsewhere: in its settings, under Integration, choose "Send a webhook" and set the request URL to ${place}`,
      );
    }
    return `${friendlyName}, messaging service ${service.friendlyName}`;
  }
  if (channel === "whatsapp" || !sender.number.startsWith("+")) {
    // Where these deliver to Twilio does not tell.
    return `${friendlyName}, ${sender.number}, if it delivers to ${place}`;
  }
  const number = await asking.number(friendlyName, sender.number);
  if (!leadsTo(number.smsUrl, webhookUrl) || number.smsMethod !== "POST") {
    throw new Error(
      `${sender.number} delivers elsewhere: in the Twilio console, in the number's messaging configuration, set "A message comes in" to the webhook ${place}`,
    );
  }
  return `${friendlyName}, ${sender.number}`;
}

/** Addresses of this machine and of networks of one's own. */
const inside = new BlockList();
for (const [net, prefix] of [
  ["10.0.0.0", 8],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.168.0.0", 16],
] as const) {
  inside.addSubnet(net, prefix);
}
inside.addAddress("::1", "ipv6");
inside.addSubnet("fc00::", 7, "ipv6");

/** Throws where nobody on the internet can deliver to this address. */
export function requireOutside(webhookUrl: string): void {
  const { hostname, origin } = new URL(webhookUrl);
  const host = hostname.replaceAll(/[[\]]/g, "");
  const version = isIP(host);
  const isInside =
    version === 0
      ? /(?:^|\.)(?:localhost|local|internal|lan)$/.test(host)
      : inside.check(host, version === 6 ? "ipv6" : "ipv4");
  if (!isInside) return;
  throw new Error(
    `Twilio cannot deliver to ${origin}, which is an address within your own network: set PUBLIC_URL to the https address by which this server is reached from the internet`,
  );
}

/** What stands behind # tells Twilio how often to try, and is no part of the address. */
export const leadsTo = (url: string | null, webhookUrl: string): boolean => (url ?? "").split("#", 1)[0] === webhookUrl;
