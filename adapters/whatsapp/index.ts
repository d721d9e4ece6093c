import type { AdapterModule } from "#channels/contract.ts";
import { createServerFetch } from "#channels/http/guarded-connect.ts";
import { whatsappWindow } from "#channels/text/whatsapp.ts";
import { checkNumber } from "./check.ts";
import { createApi } from "./client.ts";
import type { WhatsappConfig } from "./config.ts";
import { config, isTelephoneNumber, settingsOf } from "./config.ts";
import { fetchMedia } from "./files.ts";
import { fileBytesMax } from "./media.ts";
import type { Registration } from "./registration.ts";
import { register } from "./registration.ts";
import type { WhatsappPart } from "./render.ts";
import { renderParts, textMax } from "./render.ts";
import { ownIds, reactTo, sendPart, showTyping } from "./send.ts";
import { receive, refuse } from "./webhook.ts";

/** WhatsApp removes the typing indicator after 25 seconds. */
const typingMs = 24_000;

const whatsapp: AdapterModule<WhatsappConfig> = {
  config,
  secrets: ["access_token", "app_secret", "pin"],
  addresses: ["base_url"],
  identity: ({ phone_number_id: key }) => ({ key, name: `the number with the ID ${key}`, setting: "phone_number_id" }),
  create({ config: given }, host) {
    const settings = settingsOf(given);
    const api = createApi(settings, host.lookup);
    const server = { api, settings, fetch: createServerFetch(host.lookup) };
    const sending = { api, settings, host };
    const registration: Registration = {};
    return {
      window: whatsappWindow(
        settings.template !== undefined,
        // A template has no buttons, so they take no room here.
        ({ kind: _kind, ...message }) => renderParts(message),
        ({ payload }) => (payload as WhatsappPart).body,
      ),
      writeFirst: {
        label: "Telephone number",
        hint: "A number in the international form, such as +15551234567.",
        thread: (address) => (isTelephoneNumber(address) ? address : undefined),
      },
      // A customer's address belongs to one customer.
      isPrivate: () => true,
      capabilities: {
        textMax,
        typing: true,
        typingMs,
        receipts: true,
        references: ownIds,
        idempotentSend: false,
        fileBytesMax,
      },
      inbound: {
        kind: "webhook",
        refuse,
        receive: (request) => receive(settings, host, request),
        register: (signal) => register(api, settings, host, registration, signal),
      },
      render: (message) => renderParts(message, settings.personButton),
      send: (part, context) => sendPart(sending, part, context),
      typing: (thread) => showTyping(sending, thread),
      react: (externalId, emoji, context) => reactTo(sending, externalId, emoji, context),
      fetchFile: (ref, signal) => fetchMedia(server, ref, signal),
      check: (signal) => checkNumber(api, settings, host, signal),
      close: async () => undefined,
    };
  },
};

export default whatsapp;
