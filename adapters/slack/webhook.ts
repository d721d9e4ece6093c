import type { ChannelHost, WebRequest, WebResponse } from "#channels/contract.ts";
import type { SlackApi } from "./client.ts";
import type { Delivery } from "./deliveries/deliveries.ts";
import { parseBody } from "./deliveries/deliveries.ts";
import type { Events } from "./events.ts";
import { createAuthFailures } from "./deliveries/auth-failures.ts";
import type { DeskRoutes, Reply } from "./deliveries/interactions.ts";
import { opinionIn, takePress } from "./messages/buttons.ts";
import { judge, maySign } from "./deliveries/signature.ts";
import type { Revocation } from "./install/revocation.ts";

export interface Webhook {
  /** Resolves when the delivery is stored; rejects when it is not. */
  take(delivery: Delivery): Promise<Reply>;
  /** Refuses unsigned requests before their body is read. */
  refuse(request: Omit<WebRequest, "body">): WebResponse | null;
  /** Handles a delivery over HTTP after its signature is verified. */
  receive(request: WebRequest): Promise<WebResponse>;
}

export interface WebhookDependencies {
  readonly api: SlackApi;
  readonly host: ChannelHost;
  readonly events: Events;
  readonly revocation: Pick<Revocation, "take">;
  /** Undefined for Socket Mode. */
  readonly signingSecret: string | undefined;
  /** The agents' desk, if this account serves one. */
  readonly desk: DeskRoutes | undefined;
}

const noDesk: Reply = {
  response_type: "ephemeral",
  text: "This app answers customers here, and has no commands.",
};

/** Receives all deliveries of Slack, and routes them to the customers' side or to the desk. */
export function createWebhook(dependencies: WebhookDependencies): Webhook {
  const { api, host, events, revocation, signingSecret, desk } = dependencies;
  const authFailures = signingSecret === undefined ? undefined : createAuthFailures(host, signingSecret);

  async function take(delivery: Delivery): Promise<Reply> {
    switch (delivery.kind) {
      case "event": {
        if (await revocation.take(delivery.envelope)) return null;
        if ((await desk?.owns(delivery.envelope.event)) === true) await desk?.event(delivery.envelope);
        else await events.take(delivery.envelope);
        return null;
      }
      case "interaction": {
        const opinion = opinionIn(delivery.interaction);
        if (opinion === undefined) return desk === undefined ? null : desk.interaction(delivery.interaction);
        await takePress({ api, host }, opinion, delivery.interaction);
        return null;
      }
      case "command":
        return desk === undefined ? noDesk : desk.command(delivery.command);
      case "challenge":
        return { challenge: delivery.challenge };
      case "limited":
        host.log.warn({}, "slack: events rate limited for up to an hour");
        return null;
      case "unknown":
        host.log.warn({ what: delivery.what }, "slack: unknown delivery skipped");
        return null;
    }
  }

  return {
    take,
    refuse({ method, headers }) {
      if (method !== "POST") return { status: 405, headers: { allow: "POST" } };
      return maySign(headers) ? null : { status: 401 };
    },
    async receive(request) {
      const { method, headers, body } = request;
      if (method !== "POST") return { status: 405, headers: { allow: "POST" } };
      if (signingSecret === undefined) return { status: 404 };
      const judged = judge({ headers, body }, signingSecret, host.clock.now());
      if (judged.kind !== "good") {
        if (headers["x-slack-signature"] !== undefined) await authFailures?.refused(judged);
        return { status: 401 };
      }
      const delivery = parseBody(headers["content-type"] ?? "", body);
      if (delivery === null) return { status: 400 };
      try {
        const reply = await take(delivery);
        await authFailures?.delivered();
        return reply === null
          ? { status: 200 }
          : { status: 200, headers: { "content-type": "application/json" }, body: JSON.stringify(reply) };
      } catch (error) {
        host.log.error({ err: error }, "slack: storing a delivery failed, awaiting redelivery");
        return { status: 503 };
      }
    },
  };
}
