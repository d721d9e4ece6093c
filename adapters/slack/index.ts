import { createHash } from "node:crypto";
import type { AdapterModule } from "#channels/contract.ts";
import type { DeskHost } from "#channels/desk/contract.ts";
import { checkApp } from "./check.ts";
import { createSlackApi, slackApiUrl } from "./client.ts";
import type { SlackConfig } from "./config.ts";
import { config, secrets, transportOf } from "./config.ts";
import { createSlackDesk } from "./desk/desk.ts";
import { createDeskAgents } from "./desk/agents.ts";
import type { RouteDependencies } from "./desk/routes.ts";
import { createDeskRoutes } from "./desk/routes.ts";
import { createWebhook } from "./webhook.ts";
import { fetchSlackFile } from "./files.ts";
import { createEvents } from "./events.ts";
import { findPart } from "./messages/reconcile.ts";
import { renderParts, textMax } from "./render.ts";
import { createSending, editPart, removePart, sendPart } from "./send.ts";
import { runConnection } from "./connection.ts";
import { fileBytesMax } from "./messages/upload.ts";
import { createUsers } from "./messages/users.ts";

const slack: AdapterModule<SlackConfig> = {
  channels: ["slack"],
  config,
  secrets,
  identity: ({ bot_token: token }) => {
    // A token is of a team and a bot, both of which it names before its secret; a new one of the same bot names the same.
    const [, team = "", bot = "", secret] = token.split("-");
    const key = secret === undefined ? createHash("sha256").update(token).digest("hex") : `${team}-${bot}`;
    return { key, name: secret === undefined ? "the app of this token" : `the app ${key}`, setting: "bot_token" };
  },
  create({ config: given }, host) {
    const transport = transportOf(given, host.webhookUrl);
    const baseUrl = given.base_url ?? slackApiUrl;
    const api = createSlackApi(given.bot_token, baseUrl, host.log);
    const users = createUsers(api, host);
    const events = createEvents({ api, host, users, channelMessages: given.channel_messages ?? "addressed" });
    const signingSecret = transport.kind === "webhook" ? transport.signingSecret : undefined;
    const desk = host.desk === undefined ? undefined : createAgentsSide({ api, host, users }, host.desk);
    const webhook = createWebhook({ host, events, signingSecret, desk: desk?.routes });
    const sending = createSending(api, host);
    return {
      capabilities: { textMax, typing: false, receipts: false, idempotentSend: false, fileBytesMax },
      inbound:
        transport.kind === "webhook"
          ? { kind: "webhook", refuse: webhook.refuse, receive: webhook.receive }
          : {
              kind: "connection",
              run: (signal) => runConnection({ appToken: transport.appToken, baseUrl, webhook, host }, signal),
            },
      render: renderParts,
      // Direct messages of two have a D.
      isPrivate: (thread) => thread.startsWith("D"),
      send: (part, context) => sendPart(sending, part, context),
      edit: (part, externalId, context) => editPart(sending, part, externalId, context),
      remove: (externalId, context) => removePart(sending, externalId, context),
      reconcile: (key, context, attempt) => findPart(api, key, context, attempt),
      fetchFile: (ref, signal) => fetchSlackFile(api, ref, signal),
      ...(desk === undefined ? {} : { desk: desk.desk }),
      check: (signal) => checkApp(api, transport, host, signal),
      close: async () => undefined,
    };
  },
};

export default slack;

function createAgentsSide(common: Pick<RouteDependencies, "api" | "host" | "users">, desk: DeskHost) {
  const people = createDeskAgents(common.api, common.host, desk);
  return {
    desk: createSlackDesk({ ...common, desk, agents: people }),
    routes: createDeskRoutes({ ...common, desk, people }),
  };
}
