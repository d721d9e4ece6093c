import { Api } from "grammy";
import { createServerFetch } from "#channels/http/guarded-connect.ts";
import { createPlatformFetch } from "#channels/http/platform-fetch.ts";
import type { AdapterModule } from "#channels/contract.ts";
import { businessWindow, byConnection, createBusinessConnections, permittedOwners } from "./business.ts";
import { checkBot } from "./check.ts";
import type { TelegramConfig } from "./config.ts";
import { config } from "./config.ts";
import { createEvents } from "./events.ts";
import { runConnection } from "./connection.ts";
import { fetchTelegramFile } from "./files.ts";
import { fileBytesMax, renderParts, textMax } from "./render.ts";
import { withoutToken } from "./errors.ts";
import { editPart, reactTo, removePart, sendPart } from "./send.ts";
import { receive, refusalOf, webhookSecret } from "./webhook.ts";
import { parseThread } from "./thread.ts";
import { updateKinds } from "./payloads.ts";
import { grammyFetch, grammySignal } from "./client.ts";

/** The client's time limit of a call; a long poll takes less. */
const timeoutSeconds = 30;
/** The time for 50 MB at 2 Mbit/s. An aborted upload may have arrived, and is not sent again. */
const uploadSeconds = 240;
/** Telegram removes the typing indicator after five seconds. */
const typingMs = 4_000;
const defaultRoot = "https://api.telegram.org";

/** A token can be replaced; the bot stays the same. */
const botIdOf = (token: string): string => token.split(":", 1)[0] ?? token;

const telegram: AdapterModule<TelegramConfig> = {
  config,
  secrets: ["token"],
  addresses: ["base_url"],
  identity: ({ token }) => {
    const key = botIdOf(token);
    return { key, name: `the bot ${key}`, setting: "token" };
  },
  create({ config: given }, host) {
    const { token, transport, groups = "addressed", base_url: apiRoot } = given;
    const permitted = permittedOwners(given.business_owners);
    const options = {
      fetch: grammyFetch(createPlatformFetch(host.lookup)),
      ...(apiRoot === undefined ? {} : { apiRoot }),
    };
    const api = new Api(token, { ...options, timeoutSeconds });
    const uploads = new Api(token, { ...options, timeoutSeconds: uploadSeconds });
    const server = { api, apiRoot: apiRoot ?? defaultRoot, token, fetch: createServerFetch(host.lookup) };
    const connections = createBusinessConnections(api, host, token, permitted);
    const events = createEvents({ host, api, token, groups, botId: Number(botIdOf(token)), connections });
    const secret = webhookSecret(host);
    const kind = transport ?? (host.webhookUrl.startsWith("https:") ? "webhook" : "polling");
    const sending = { api, uploads, host, token, connections };
    return {
      window: businessWindow,
      writeFirst: {
        label: "Chat ID",
        hint: "The number of a chat whose person has written to the bot before, such as 123456789.",
        thread: (address) => (/^-?[0-9]{1,20}$/.test(address) ? address : undefined),
      },
      // Groups and channels have negative ids, and other people read there, as the owner of a business account does.
      isPrivate: (thread) => parseThread(thread).chatId > 0 && parseThread(thread).ownerId === undefined,
      capabilities: {
        textMax,
        typing: true,
        typingMs,
        receipts: false,
        references: true,
        idempotentSend: false,
        fileBytesMax,
      },
      inbound:
        kind === "polling"
          ? { kind: "connection", run: (signal) => runConnection({ api, events, token, log: host.log }, signal) }
          : {
              kind: "webhook",
              refuse: (request) => refusalOf(request, secret),
              receive: (request) => receive(request, secret, events, host),
              async register(signal) {
                await withoutToken(token, () =>
                  api.setWebhook(
                    host.webhookUrl,
                    { secret_token: secret, allowed_updates: updateKinds, max_connections: 40 },
                    grammySignal(signal),
                  ),
                );
              },
            },
      render: renderParts,
      send: (part, context) => sendPart(sending, part, context),
      edit: (part, externalId, context) => editPart(sending, part, externalId, context),
      remove: (externalId, context) => removePart(sending, externalId, context),
      react: (externalId, emoji, { signal }) => reactTo(api, token, externalId, emoji, signal),
      fetchFile: (ref, signal) => fetchTelegramFile(server, ref, signal),
      async typing(thread) {
        const { chatId, topicId, ownerId } = parseThread(thread);
        const connectionId = ownerId === undefined ? undefined : await connections.current(ownerId);
        if (ownerId !== undefined && connectionId === undefined) return;
        const at = { ...byConnection(connectionId), ...(topicId === undefined ? {} : { message_thread_id: topicId }) };
        await withoutToken(token, () => api.sendChatAction(chatId, "typing", at));
      },
      check: (signal) =>
        checkBot(
          {
            api,
            token,
            transport: kind,
            webhookUrl: host.webhookUrl,
            isOwnServer: apiRoot !== undefined,
            state: host.state,
            permitted,
          },
          signal,
        ),
      close: async () => undefined,
    };
  },
};

export default telegram;
