import type { AdapterModule } from "#channels/contract.ts";
import { createClient } from "../shared/client.ts";
import { createCalls } from "./calls/calls.ts";
import { checkAccount } from "./check.ts";
import { fetchRecording } from "./files.ts";
import { formBytesMax, refuse } from "../shared/form.ts";
import { receive } from "./webhook.ts";
import { renderParts } from "./render.ts";
import { reconcilePart, sendPart } from "./send.ts";
import type { VoiceConfig } from "./config.ts";
import { config, settingsOf } from "./config.ts";
import { createTwiml } from "./twiml.ts";

const adapter: AdapterModule<VoiceConfig> = {
  channels: ["voice"],
  config,
  secrets: ["auth_token"],
  identity: ({ from }) => ({ key: from, name: `the number ${from}`, setting: "from" }),
  create({ config: given }, host) {
    const settings = settingsOf(given);
    const client = createClient(settings);
    const calls = createCalls(host);
    const dependencies = { client, settings, host, calls, twiml: createTwiml(settings, host.webhookUrl) };
    return {
      capabilities: { textMax: null, typing: false, receipts: false, idempotentSend: false },
      inbound: {
        kind: "webhook",
        bodyBytesMax: formBytesMax,
        refuse,
        receive: (request) => receive(dependencies, request),
      },
      render: (message) => renderParts(settings.texts, message),
      send: (part, context) => sendPart(dependencies, part, context),
      reconcile: (_key, context, attempt) => reconcilePart(dependencies, context, attempt),
      fetchFile: (ref, signal) => fetchRecording(settings, host.clock, ref, signal),
      check: (signal) => checkAccount(client, settings, host.webhookUrl, signal),
      close: async () => undefined,
    };
  },
};

export default adapter;
