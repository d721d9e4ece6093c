import type { AdapterModule } from "#channels/contract.ts";
import { checkAccount } from "./check.ts";
import { createClient } from "../shared/client.ts";
import { fetchMedia } from "./files.ts";
import { fileBytesMaxOf } from "./media.ts";
import { createOptOuts } from "./opt-outs/opt-outs.ts";
import { formBytesMax, refuse } from "../shared/form.ts";
import { receive } from "./webhook.ts";
import { renderParts, textMax, withButtons } from "./render.ts";
import { findPart, sendPart } from "./send.ts";
import type { TwilioConfig } from "./config.ts";
import { config, isTelephoneNumber, settingsOf } from "./config.ts";
import { windowOf } from "./templates.ts";

const adapter: AdapterModule<TwilioConfig> = {
  config,
  secrets: ["auth_token"],
  addresses: ["base_url"],
  identity: ({ from, messaging_service_sid: service }) =>
    from === undefined
      ? { key: service ?? "", name: `the messaging service ${service ?? ""}`, setting: "messaging_service_sid" }
      : { key: from, name: `the number ${from}`, setting: "from" },
  isAddressEntered: true,
  create({ channel, config: given }, host) {
    const settings = settingsOf(channel === "whatsapp" ? "whatsapp" : "sms", given);
    const client = createClient(settings, host.lookup);
    const optOuts = createOptOuts(host, settings.channel);
    const dependencies = { client, settings, host, optOuts };
    const window = windowOf(settings);
    const fileBytesMax = fileBytesMaxOf(settings);
    return {
      ...(window === undefined ? {} : { window }),
      writeFirst: {
        label: "Telephone number",
        hint: "A number in the international form, such as +15551234567.",
        thread: (address) => (isTelephoneNumber(address) ? address : undefined),
      },
      // A telephone number or WhatsApp address belongs to one customer.
      isPrivate: () => true,
      capabilities: {
        textMax,
        typing: false,
        receipts: true,
        idempotentSend: false,
        ...(fileBytesMax === undefined ? {} : { fileBytesMax }),
      },
      inbound: {
        kind: "webhook",
        bodyBytesMax: formBytesMax,
        refuse,
        receive: (request) => receive(dependencies, request),
      },
      render: (message) => {
        const parts = renderParts(settings.channel, message);
        return settings.quickReply === undefined || message.role !== "assistant" ? parts : withButtons(parts);
      },
      send: (part, context) => sendPart(dependencies, part, context),
      reconcile: (_key, context, attempt) => findPart(dependencies, context, attempt),
      fetchFile: (ref, signal) => fetchMedia(settings, ref, signal, host.lookup),
      check: (signal) => checkAccount(client, settings, host.webhookUrl, signal),
      close: async () => undefined,
    };
  },
};

export default adapter;
