import { App } from "@slack/bolt";
import type { ChannelHost } from "#channels/contract.ts";
import type { SlackApi } from "../client.ts";
import { clientOptions, sdkLogger } from "../client.ts";
import type { Events } from "../events.ts";
import type { Revocation } from "../install/revocation.ts";
import type { AssistantThreads } from "../messages/assistant.ts";
import { takePress } from "../messages/buttons.ts";
import { deliveryOf, fieldsOf } from "./deliveries.ts";
import type { Delivered, DeskListeners, SlackApp } from "./listeners.ts";

/** The body of the response to an interaction or a command; null: an empty acknowledgement. */
export type Reply = Readonly<Record<string, unknown>> | null;

export interface AppDependencies {
  readonly api: SlackApi;
  readonly host: ChannelHost;
  readonly events: Events;
  readonly revocation: Pick<Revocation, "take">;
  readonly assistant: Pick<AssistantThreads, "started">;
  /** The agents' desk, if this account serves one. */
  readonly desk: DeskListeners | undefined;
}

/** Takes all deliveries of an account, and has Bolt choose their listener. */
export interface Deliveries {
  /** Resolves when the delivery is stored; rejects when it is not. */
  take(given: unknown): Promise<Reply>;
}

export function createDeliveries(dependencies: AppDependencies): Deliveries {
  const { host } = dependencies;
  const app = createApp(dependencies);

  return {
    async take(given) {
      const { type, challenge } = fieldsOf(given);
      if (type === "url_verification" && typeof challenge === "string") return { challenge };
      const delivered = type === "app_rate_limited" ? undefined : deliveryOf(given);
      if (delivered === undefined) {
        if (type === "app_rate_limited") host.log.warn({}, "slack: events rate limited for up to an hour");
        else host.log.warn({}, "slack: unknown delivery skipped");
        return null;
      }
      let reply: Reply = null;
      // Bolt acknowledges events before their listener has run. Only this method's end acknowledges to Slack.
      const ack = async (answer: Reply = null): Promise<void> => {
        reply = answer;
      };
      await app.processEvent({ body: routeOf(delivered), customProperties: delivered, ack });
      return reply;
    },
  };
}

/**
 * The fields that Bolt chooses a listener by. It gets no others: it throws where they are null or of another type, and
 * Slack would deliver again what can never be read.
 */
function routeOf({ envelope, interaction, command }: Partial<Delivered>): Readonly<Record<string, unknown>> {
  // Bolt throws on `function_executed` without an id, even though nobody listens to it.
  if (envelope !== undefined) return { event: { type: envelope.event.type, function_execution_id: "unread" } };
  if (command !== undefined) return { command: command.command, user_id: command.user_id };
  const { type = "", user, callback_id, actions, view } = interaction ?? {};
  return {
    type,
    user: { id: user?.id },
    callback_id,
    ...(type === "block_actions" ? { actions: [{ action_id: actions?.[0]?.action_id ?? "" }] } : {}),
    ...(type.startsWith("view_") ? { view: { callback_id: view?.callback_id } } : {}),
  };
}

function createApp({ api, host, events, revocation, assistant, desk }: AppDependencies): SlackApp {
  const app: SlackApp = new App<Delivered>({
    receiver: { init: () => undefined, start: async () => undefined, stop: async () => undefined },
    // An account is one workspace, and its listeners call Slack by clients of ours.
    authorize: async () => ({}),
    // Bolt's filter passes over edits and deletions of the app's own messages; `readEvent` recognises these too.
    ignoreSelf: false,
    convoStore: false,
    logger: sdkLogger(host.log),
    clientOptions: clientOptions(api.baseUrl),
  });
  app.error(async (error) => {
    throw error.original ?? error;
  });
  app.event(/^(?:app_uninstalled|tokens_revoked)$/, ({ event }) => revocation.take(event.type));
  app.event("assistant_thread_started", ({ context }) => assistant.started(context.envelope));
  app.event(
    /^(?!(?:app_uninstalled|tokens_revoked|assistant_thread_started)$)/,
    ...(desk === undefined ? [] : [desk.event]),
    ({ context }) => events.take(context.envelope),
  );
  app.action(/^parley:/, ({ context }) => takePress({ api, host }, context.interaction));
  if (desk === undefined) app.command(/^/, ({ ack }) => ack(noDesk));
  else desk.listen(app);
  return app;
}

const noDesk = {
  response_type: "ephemeral",
  text: "This app answers customers here, and has no commands.",
} as const;
