import type { AdapterModule } from "#channels/contract.ts";
import { createServerFetch } from "#channels/http/guarded-connect.ts";
import { checkWorkspace } from "./check.ts";
import { createApi } from "./client.ts";
import { createWebhook, refuse } from "./webhook.ts";
import { fetchFile } from "./files.ts";
import { createEvents } from "./events.ts";
import { runConnection } from "./connection.ts";
import { fileBytesMax, renderParts, textMax } from "./render.ts";
import { findPart, removePart, sendFirst, sendPart } from "./send.ts";
import type { IntercomConfig } from "./config.ts";
import { config, settingsOf } from "./config.ts";
import { addNote, handOver, setState } from "./platform-status.ts";

const intercom: AdapterModule<IntercomConfig> = {
  config,
  secrets: ["access_token", "client_secret"],
  addresses: ["base_url"],
  identity: ({ app_id: appId }) => ({ key: appId, name: `the Intercom workspace ${appId}`, setting: "app_id" }),
  create({ config: given }, host) {
    const settings = settingsOf(given);
    const api = createApi(settings, host);
    const server = { api, baseUrl: settings.baseUrl, fetch: createServerFetch(host.lookup) };
    const events = createEvents(host, settings);
    const sending = { api, settings, host };
    return {
      capabilities: { textMax, typing: false, receipts: false, idempotentSend: false, fileBytesMax, noSurveys: true },
      inbound: {
        kind: "webhook",
        refuse,
        receive: createWebhook({ settings, host, events }),
        run: (signal) => runConnection({ api, settings, host, events }, signal),
      },
      render: renderParts,
      send: (part, context) => sendPart(sending, part, context),
      writeFirst: {
        label: "Contact ID",
        hint: "The ID at the end of the address of a contact's page in Intercom, such as 6762f0d51bb69f9f2193bb7f.",
        thread: (address) => (/^[0-9a-f]{24}$/.test(address) ? address : undefined),
        send: (address, text, { signal }) => sendFirst(sending, address, text, signal),
      },
      reconcile: (_key, context, attempt) => findPart(sending, context, attempt),
      remove: (externalId, context) => removePart(sending, externalId, context),
      setState: (state, context) => setState(sending, state, context),
      handOver: (handover, context) => handOver(sending, handover, context),
      addNote: (note, context) => addNote(sending, note, context),
      fetchFile: (ref, signal) => fetchFile(server, ref, signal),
      check: (signal) => checkWorkspace(api, settings, host, signal),
      close: async () => undefined,
    };
  },
};

export default intercom;
