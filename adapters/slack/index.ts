import { createHash } from "node:crypto";
import type { AdapterModule } from "#channels/contract.ts";
import type { DeskHost } from "#channels/desk/contract.ts";
import { checkApp } from "./check.ts";
import { createSlackApi, slackApiUrl } from "./client.ts";
import type { Deliveries } from "./deliveries/app.ts";
import { createDeliveries } from "./deliveries/app.ts";
import type { SlackConfig } from "./config.ts";
import { config, secrets, transportOf } from "./config.ts";
import { createSlackDesk } from "./desk/desk.ts";
import { createDeskAgents } from "./desk/agents.ts";
import type { ListenerDependencies } from "./desk/listeners.ts";
import { createDeskListeners } from "./desk/listeners.ts";
import { createWebhook } from "./webhook.ts";
import { fetchSlackFile } from "./files.ts";
import { createEvents } from "./events.ts";
import { createAssistantThreads } from "./messages/assistant.ts";
import { threadOf } from "./messages/thread.ts";
import { install } from "./install/install.ts";
import { readManifests } from "./install/manifest.ts";
import { createRelay, replyIn, signedRequest } from "./install/relay.ts";
import { createRevocation } from "./install/revocation.ts";
import { findPart } from "./messages/reconcile.ts";
import { renderParts, textMax } from "./render.ts";
import { createSending, editPart, reactTo, removePart, sendPart } from "./send.ts";
import { runConnection } from "./connection.ts";
import { fileBytesMax } from "./messages/upload.ts";
import { createUsers } from "./messages/users.ts";

const slack: AdapterModule<SlackConfig> = {
  config,
  secrets,
  addresses: ["base_url"],
  identity: ({ bot_token: token }) => {
    // A token contains the team, the bot and a secret. A new token of the same bot differs only in its secret.
    const [, team = "", bot = "", secret] = token.split("-");
    const key = secret === undefined ? createHash("sha256").update(token).digest("hex") : `${team}-${bot}`;
    return { key, name: secret === undefined ? "the app of this token" : `the app ${key}`, setting: "bot_token" };
  },
  setupFiles: readManifests,
  install,
  create({ config: given }, host) {
    const transport = transportOf(given, host.webhookUrl);
    const baseUrl = given.base_url ?? slackApiUrl;
    const api = createSlackApi(given.bot_token, baseUrl, host.log, host.lookup);
    const users = createUsers(api, host);
    const assistant = createAssistantThreads(api, host);
    const events = createEvents({
      api,
      host,
      users,
      assistant,
      channelMessages: given.channel_messages ?? "addressed",
    });
    const desk = host.desk === undefined ? undefined : createAgentsSide({ api, host, users }, host.desk);
    const revocation = createRevocation(api, host, given);
    const deliveries = createDeliveries({ api, host, events, revocation, assistant, desk: desk?.listeners });
    const sending = createSending(api, host);
    const relay = createRelay(host);
    const webhookWith = (signingSecret: string) => createWebhook({ host, deliveries, relay, signingSecret });
    const { signing_secret: secret } = given;
    const onSocket: Deliveries = {
      async take(delivery) {
        if (secret === undefined) return deliveries.take(delivery);
        const relayed = await relay.take(delivery, () => signedRequest(delivery, secret, host.clock.now()));
        return relayed === null ? deliveries.take(delivery) : replyIn(relayed);
      },
    };
    return {
      capabilities: { textMax, typing: true, receipts: false, idempotentSend: false, fileBytesMax },
      inbound:
        transport.kind === "webhook"
          ? { kind: "webhook", ...webhookWith(transport.signingSecret) }
          : {
              kind: "connection",
              ...(secret === undefined ? {} : { receive: webhookWith(secret).receive }),
              async run(signal) {
                // The app-level token outlives the removal of the app, and connects without it.
                const revoked = new AbortController();
                const checked = revocation.requireToken(signal).catch((error: unknown) => revoked.abort(error));
                const either = AbortSignal.any([signal, revoked.signal]);
                await runConnection({ appToken: transport.appToken, baseUrl, deliveries: onSocket, host }, either);
                await checked;
                revoked.signal.throwIfAborted();
              },
            },
      writeFirst: {
        label: "Channel or member ID",
        hint: "The ID at the bottom of a channel's or a member's details in Slack, such as C0123456789.",
        thread: (address) =>
          /^[CDGUW][A-Z0-9]{7,20}$/.test(address) ? threadOf({ channelId: address, threadTs: undefined }) : undefined,
      },
      render: renderParts,
      // Ids of direct messages start with D.
      isPrivate: (thread) => thread.startsWith("D"),
      send: (part, context) => sendPart(sending, part, context),
      edit: (part, externalId, context) => editPart(sending, part, externalId, context),
      remove: (externalId, context) => removePart(sending, externalId, context),
      react: (externalId, emoji, context) => reactTo(sending, externalId, emoji, context),
      reconcile: (key, context, attempt) => findPart(api, key, context, attempt),
      typing: (thread, who) => assistant.status(thread, who),
      fetchFile: (ref, signal) => fetchSlackFile(api, ref, signal),
      ...(desk === undefined ? {} : { desk: desk.desk }),
      check: (signal) => checkApp(api, transport, host, signal),
      close: async () => undefined,
    };
  },
};

export default slack;

function createAgentsSide(common: Pick<ListenerDependencies, "api" | "host" | "users">, desk: DeskHost) {
  const people = createDeskAgents(common.api, common.host, desk);
  return {
    desk: createSlackDesk({ ...common, desk, agents: people }),
    listeners: createDeskListeners({ ...common, desk, people }),
  };
}
