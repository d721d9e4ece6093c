import type { AdapterModule } from "#channels/contract.ts";
import { checkWorkspace } from "./check.ts";
import { createApi } from "./client.ts";
import { createWebhook, refuse } from "./webhook.ts";
import { fetchFile } from "./files.ts";
import { createEvents } from "./events.ts";
import { runConnection } from "./connection.ts";
import { fileBytesMax, renderParts, textMax } from "./render.ts";
import { findPart, removePart, sendPart } from "./send.ts";
import type { IntercomConfig } from "./config.ts";
import { config, settingsOf } from "./config.ts";
import { addNote, handOver, setState } from "./platform-status.ts";

const intercom: AdapterModule<IntercomConfig> = {
  channels: ["intercom"],
  config,
  secrets: ["access_token", "client_secret"],
  identity: ({ app_id: appId }) => ({ key: appId, name: `the Intercom workspace ${appId}`, setting: "app_id" }),
  create({ config: given }, host) {
    const settings = settingsOf(given);
    const api = createApi(settings, host);
    const events = createEvents(host, settings);
    const sending = { api, settings, host };
    return {
      capabilities: { textMax, typing: false, receipts: false, idempotentSend: false, fileBytesMax },
      inbound: {
        kind: "webhook",
        refuse,
        receive: createWebhook({ settings, host, events }),
        run: (signal) => runConnection({ api, settings, host, events }, signal),
      },
      render: renderParts,
      send: (part, context) => sendPart(sending, part, context),
      reconcile: (_key, context, attempt) => findPart(sending, context, attempt),
      remove: (externalId, context) => removePart(sending, externalId, context),
      setState: (state, context) => setState(sending, state, context),
      handOver: (handover, context) => handOver(sending, handover, context),
      addNote: (note, context) => addNote(sending, note, context),
      fetchFile: (ref, signal) => fetchFile(api, settings.baseUrl, ref, signal),
      check: (signal) => checkWorkspace(api, settings, host, signal),
      close: async () => undefined,
    };
  },
};

export default intercom;
