import { createHash, timingSafeEqual } from "node:crypto";
import { Api } from "grammy";
import Type from "typebox";
import type { Static } from "typebox";
import { createPlatformFetch } from "#channels/http/platform-fetch.ts";
import type { AdapterModule, ChannelHost, WebRequest, WebResponse } from "#channels/contract.ts";
import { checkBot } from "./check.ts";
import type { Events } from "./events.ts";
import { createEvents } from "./events.ts";
import { runConnection } from "./connection.ts";
import { fetchTelegramFile } from "./files.ts";
import { fileBytesMax, renderParts, textMax } from "./render.ts";
import { withoutToken } from "./errors.ts";
import { editPart, removePart, sendPart } from "./send.ts";
import { parseThread } from "./thread.ts";
import { updateKinds } from "./payloads.ts";
import { grammyFetch, grammySignal } from "./client.ts";

const config = Type.Object(
  {
    token: Type.String({
      pattern: "^[0-9]{3,20}:[A-Za-z0-9_-]{10,100}$",
      description: "The bot's token, from @BotFather.",
    }),
    transport: Type.Optional(
      Type.Enum(["webhook", "polling"], {
        description:
          "webhook: Telegram calls PUBLIC_URL. polling: Parley asks Telegram, which needs no public address. Default: webhook where PUBLIC_URL is https.",
      }),
    ),
    groups: Type.Optional(
      Type.Enum(["addressed", "all", "off"], {
        description:
          "Messages in groups that count: those that address the bot, all that it is shown, or none. Default: addressed.",
      }),
    ),
    base_url: Type.Optional(
      Type.String({
        pattern: "^https?://[^\\s]*[^/\\s]$",
        description: "Another server of the Bot API than https://api.telegram.org; without a slash at the end.",
      }),
    ),
  },
  { additionalProperties: false },
);

export type TelegramConfig = Static<typeof config>;

/** Telegram waits this long for the answer to a long poll; the client waits a little longer. */
const timeoutSeconds = 30;
/** Of 50 MB over a line that takes 2 Mbit/s. What is cut off may have arrived, and is not sent again. */
const uploadSeconds = 240;
/** Telegram takes it away after five seconds. */
const typingMs = 4_000;
const defaultRoot = "https://api.telegram.org";

/** A token can be replaced; the bot stays the same. */
const botIdOf = (token: string): string => token.split(":", 1)[0] ?? token;

const telegram: AdapterModule<TelegramConfig> = {
  channels: ["telegram"],
  config,
  secrets: ["token"],
  identity: ({ token }) => {
    const key = botIdOf(token);
    return { key, name: `the bot ${key}`, setting: "token" };
  },
  create({ config: { token, transport, groups = "addressed", base_url: apiRoot } }, host) {
    const options = {
      fetch: grammyFetch(createPlatformFetch()),
      ...(apiRoot === undefined ? {} : { apiRoot }),
    };
    const api = new Api(token, { ...options, timeoutSeconds });
    const uploads = new Api(token, { ...options, timeoutSeconds: uploadSeconds });
    const events = createEvents({ host, api, groups, botId: Number(botIdOf(token)) });
    const secret = webhookSecret(host);
    const kind = transport ?? (host.webhookUrl.startsWith("https:") ? "webhook" : "polling");
    return {
      // Groups and channels have negative numbers, and others read there too.
      isPrivate: (thread) => parseThread(thread).chatId > 0,
      capabilities: { textMax, typing: true, typingMs, receipts: false, idempotentSend: false, fileBytesMax },
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
      send: (part, context) => sendPart({ api, uploads, host, token }, part, context),
      edit: (part, externalId, context) => editPart(api, token, part, externalId, context),
      remove: (externalId, context) => removePart(api, token, externalId, context),
      fetchFile: (ref, signal) => fetchTelegramFile(api, apiRoot ?? defaultRoot, token, ref, signal),
      async typing(thread) {
        const { chatId, topicId } = parseThread(thread);
        await withoutToken(token, () =>
          api.sendChatAction(chatId, "typing", topicId === undefined ? {} : { message_thread_id: topicId }),
        );
      },
      check: (signal) =>
        checkBot(
          { api, token, transport: kind, webhookUrl: host.webhookUrl, isOwnServer: apiRoot !== undefined },
          signal,
        ),
      close: async () => undefined,
    };
  },
};

export default telegram;

/** The same after every start, and nobody else's: what Telegram shows us with each delivery. */
function webhookSecret(host: ChannelHost): string {
  return createHash("sha256").update(host.signToken("telegram webhook")).digest("base64url");
}

function refusalOf({ method, headers }: Omit<WebRequest, "body">, secret: string): WebResponse | null {
  if (method !== "POST") return { status: 405, headers: { allow: "POST" } };
  const given = Buffer.from(headers["x-telegram-bot-api-secret-token"] ?? "");
  const expected = Buffer.from(secret);
  return given.length === expected.length && timingSafeEqual(given, expected) ? null : { status: 401 };
}

async function receive(request: WebRequest, secret: string, events: Events, host: ChannelHost): Promise<WebResponse> {
  const refused = refusalOf(request, secret);
  if (refused !== null) return refused;
  const { body } = request;
  let update: unknown;
  try {
    update = JSON.parse(body.toString("utf8"));
  } catch {
    return { status: 400 };
  }
  try {
    const greeting = await events.take(update);
    // Telegram makes a call that stands in the answer. What came of it is not told, which is enough for a greeting.
    return greeting === null
      ? { status: 200 }
      : { status: 200, headers: { "content-type": "application/json" }, body: JSON.stringify(greeting) };
  } catch (error) {
    host.log.error({ err: error }, "telegram: storing an update failed, awaiting redelivery");
    return { status: 503 };
  }
}
