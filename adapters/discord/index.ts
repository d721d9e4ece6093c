import { Routes } from "discord.js";
import type { AdapterModule } from "#channels/contract.ts";
import { createServerFetch } from "#channels/http/guarded-connect.ts";
import { checkBot } from "./check.ts";
import { createCalls, createRest } from "./client.ts";
import type { DiscordConfig } from "./config.ts";
import { config } from "./config.ts";
import { fetchFile } from "./files.ts";
import { runConnection } from "./connection.ts";
import { fileBytesMax, renderParts, textMax } from "./render.ts";
import { editPart, reactTo, removePart, sendPart } from "./send.ts";
import { channelOf, parseThread } from "./thread.ts";

/** Discord removes the typing indicator after ten seconds. */
const typingMs = 8_000;

const discord: AdapterModule<DiscordConfig> = {
  config,
  secrets: ["token"],
  addresses: ["base_url", "gateway_url"],
  identity: ({ token }) => {
    // The first part of a token is the bot's id in base64.
    const key = Buffer.from(token.split(".", 1)[0] ?? "", "base64url").toString("latin1");
    return { key, name: `the bot ${/^[0-9]+$/.test(key) ? key : "of this token"}`, setting: "token" };
  },
  create(
    { config: { token, guilds = "off", base_url: baseUrl, gateway_url: gatewayUrl, person_button: personLabel } },
    host,
  ) {
    const rest = createRest(token, baseUrl, host.lookup);
    const calls = createCalls(rest, token);
    const server = { calls, baseUrl, fetch: createServerFetch(host.lookup) };
    return {
      // Discord deduplicates by nonce for some minutes, which is longer than the host retries.
      capabilities: {
        textMax,
        typing: true,
        typingMs,
        receipts: false,
        references: true,
        idempotentSend: true,
        fileBytesMax,
      },
      writeFirst: {
        label: "Channel ID",
        hint: "The number of a channel that the bot may write in. Discord copies it with the developer mode on.",
        thread: (address) => (/^[0-9]{15,25}$/.test(address) ? address : undefined),
      },
      inbound: {
        kind: "connection",
        run: (signal) => runConnection({ host, calls, rest, token, guilds, gatewayUrl, personLabel }, signal),
      },
      render: (message) => renderParts(message, personLabel),
      isPrivate: (thread) => parseThread(thread).kind === "direct",
      send: (part, context) => sendPart(calls, part, context),
      edit: (part, externalId, { signal }) => editPart(calls, part, externalId, signal),
      remove: (externalId, { signal }) => removePart(calls, externalId, signal),
      react: (externalId, emoji, context) => reactTo(calls, externalId, emoji, context),
      fetchFile: (ref, signal) => fetchFile(server, ref, signal),
      async typing(thread) {
        await calls.post(Routes.channelTyping(channelOf(parseThread(thread))), {});
      },
      check: (signal) => checkBot(calls, guilds, signal),
      close: async () => undefined,
    };
  },
};

export default discord;
