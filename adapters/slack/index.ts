import type { AdapterModule } from "#channel/contract.ts";
import { checkApp } from "./check.ts";
import { createSlackApi, slackApiUrl } from "./client.ts";
import type { SlackConfig } from "./config.ts";
import { config, secrets, transportOf } from "./config.ts";
import { createDoor } from "./door.ts";
import { fetchSlackFile } from "./fetch-file.ts";
import { createIntake } from "./intake.ts";
import { findPart } from "./reconcile.ts";
import { renderParts, textMax } from "./render.ts";
import { createHolds, editPart, removePart, sendPart } from "./send.ts";
import { runSocket } from "./socket.ts";
import { fileBytesMax } from "./upload.ts";
import { createUsers } from "./users.ts";

const slack: AdapterModule<SlackConfig> = {
  channels: ["slack"],
  config,
  secrets,
  create({ config: given }, host) {
    const transport = transportOf(given, host.webhookUrl);
    const baseUrl = given.base_url ?? slackApiUrl;
    const api = createSlackApi(given.bot_token, baseUrl, host.log);
    const users = createUsers(api, host);
    const intake = createIntake({ host, users, channelMessages: given.channel_messages ?? "addressed" });
    const signingSecret = transport.kind === "webhook" ? transport.signingSecret : undefined;
    const door = createDoor({ host, intake, signingSecret, desk: undefined });
    const sending = { api, holds: createHolds(host) };
    return {
      capabilities: { textMax, typing: false, receipts: false, idempotentSend: false, fileBytesMax },
      inbound:
        transport.kind === "webhook"
          ? { kind: "webhook", receive: door.receive }
          : {
              kind: "connection",
              run: (signal) => runSocket({ appToken: transport.appToken, baseUrl, door, host }, signal),
            },
      render: renderParts,
      send: (part, context) => sendPart(sending, part, context),
      edit: (part, externalId, context) => editPart(sending, part, externalId, context),
      remove: (externalId, context) => removePart(sending, externalId, context),
      reconcile: (key, context) => findPart(api, key, context),
      fetchFile: (ref, signal) => fetchSlackFile(api, ref, signal),
      check: (signal) => checkApp(api, transport, host.log, signal),
      close: async () => undefined,
    };
  },
};

export default slack;
