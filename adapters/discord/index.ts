import { Routes } from "discord.js";
import Type from "typebox";
import type { Static } from "typebox";
import type { AdapterModule } from "#channels/contract.ts";
import { checkBot } from "./check.ts";
import { fetchFile } from "./files.ts";
import { runConnection } from "./connection.ts";
import { fileBytesMax, renderParts, textMax } from "./render.ts";
import { createCalls, createRest, editPart, removePart, sendPart } from "./client.ts";
import { channelOf, parseThread } from "./thread.ts";

const config = Type.Object(
  {
    token: Type.String({
      pattern: "^[A-Za-z0-9_-]{10,200}\\.[A-Za-z0-9_-]{1,50}\\.[A-Za-z0-9_-]{10,200}$",
      description: "The bot's token, from the page Bot of the developer portal.",
    }),
    guilds: Type.Optional(
      Type.Enum(["off", "threads"], {
        description:
          "threads: who mentions the bot in a server's channel is answered in a thread; needs the Message Content intent. off: direct messages only. Default: off.",
      }),
    ),
    base_url: Type.Optional(
      Type.String({
        pattern: "^https?://[^\\s]*[^/\\s]$",
        description: "Another server of the API than https://discord.com/api; without a slash at the end.",
      }),
    ),
    person_button: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 80,
        description:
          "What stands on a button below the bot's answers by which a customer asks for a person. Default: there is no button.",
      }),
    ),
    gateway_url: Type.Optional(
      Type.String({ pattern: "^wss?://\\S+$", description: "Another gateway than the one that the API names." }),
    ),
  },
  { additionalProperties: false },
);

export type DiscordConfig = Static<typeof config>;

/** Discord takes it away after ten seconds. */
const typingMs = 8_000;

const discord: AdapterModule<DiscordConfig> = {
  channels: ["discord"],
  config,
  secrets: ["token"],
  identity: ({ token }) => {
    // A token begins with the bot's id.
    const key = Buffer.from(token.split(".", 1)[0] ?? "", "base64url").toString("latin1");
    return { key, name: `the bot ${/^[0-9]+$/.test(key) ? key : "of this token"}`, setting: "token" };
  },
  create(
    { config: { token, guilds = "off", base_url: baseUrl, gateway_url: gatewayUrl, person_button: personLabel } },
    host,
  ) {
    const rest = createRest(token, baseUrl);
    const calls = createCalls(rest, token);
    return {
      // Discord knows a repeated message by its mark for some minutes, which is longer than we keep repeating one.
      capabilities: { textMax, typing: true, typingMs, receipts: false, idempotentSend: true, fileBytesMax },
      inbound: {
        kind: "connection",
        run: (signal) => runConnection({ host, calls, rest, token, guilds, gatewayUrl, personLabel }, signal),
      },
      render: (message) => renderParts(message, personLabel),
      isPrivate: (thread) => parseThread(thread).kind === "direct",
      send: (part, context) => sendPart(calls, part, context),
      edit: (part, externalId, { signal }) => editPart(calls, part, externalId, signal),
      remove: (externalId, { signal }) => removePart(calls, externalId, signal),
      fetchFile: (ref, signal) => fetchFile(calls, baseUrl, ref, signal),
      async typing(thread) {
        await calls.post(Routes.channelTyping(channelOf(parseThread(thread))), {});
      },
      check: (signal) => checkBot(calls, guilds, signal),
      close: async () => undefined,
    };
  },
};

export default discord;
