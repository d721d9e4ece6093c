import type { AdapterModule } from "#channels/contract.ts";
import { createClient } from "../shared/client.ts";
import { createCalls } from "./calls/calls.ts";
import { checkAccount } from "./check.ts";
import { fetchRecording } from "./files.ts";
import { isTelephoneNumber } from "../messaging/config.ts";
import { formBytesMax, refuse } from "../shared/form.ts";
import { receive } from "./webhook.ts";
import { renderParts } from "./render.ts";
import { callFirst, reconcilePart, sendPart } from "./send.ts";
import type { VoiceConfig } from "./config.ts";
import { config, settingsOf } from "./config.ts";
import { createTwiml } from "./twiml.ts";

const adapter: AdapterModule<VoiceConfig> = {
  config,
  secrets: ["auth_token"],
  addresses: ["base_url"],
  identity: ({ from }) => ({ key: from, name: `the number ${from}`, setting: "from" }),
  isAddressEntered: true,
  create({ config: given }, host) {
    const settings = settingsOf(given);
    const client = createClient(settings, host.lookup);
    const calls = createCalls(host);
    const dependencies = { client, settings, host, calls, twiml: createTwiml(settings, host.webhookUrl) };
    return {
      capabilities: {
        textMax: null,
        typing: false,
        receipts: false,
        idempotentSend: false,
        noSurveys: true,
        // A quote, read aloud, sounds like the agent's own words. The caller has just said it.
        references: true,
      },
      inbound: {
        kind: "webhook",
        bodyBytesMax: formBytesMax,
        refuse,
        receive: (request) => receive(dependencies, request),
      },
      render: (message) => renderParts(settings.texts, message),
      send: (part, context) => sendPart(dependencies, part, context),
      writeFirst: {
        label: "Telephone number",
        hint: "A number in the international form, such as +15551234567. It is called, and hears the text.",
        thread: (address) => (isTelephoneNumber(address) ? address : undefined),
        send: (address, text, { signal }) => callFirst(dependencies, address, text, signal),
      },
      reconcile: (_key, context, attempt) => reconcilePart(dependencies, context, attempt),
      fetchFile: (ref, signal) => fetchRecording(settings, host.clock, ref, signal, host.lookup),
      check: (signal) => checkAccount(client, settings, host.webhookUrl, signal),
      close: async () => undefined,
    };
  },
};

export default adapter;
