import type { ChannelHost, WebRequest, WebResponse } from "#channels/contract.ts";
import type { Delivery } from "./deliveries/deliveries.ts";
import { parseBody } from "./deliveries/deliveries.ts";
import type { Events } from "./events.ts";
import { createAuthFailures } from "./deliveries/auth-failures.ts";
import type { DeskRoutes, Reply } from "./deliveries/interactions.ts";
import { judge, maySign } from "./deliveries/signature.ts";

export interface Webhook {
  /** Resolves when all that there is to store of the delivery is durable; rejects when it is not. */
  take(delivery: Delivery): Promise<Reply>;
  /** Refuses what Slack cannot have signed, before its body is read. */
  refuse(request: Omit<WebRequest, "body">): WebResponse | null;
  /** A delivery over HTTP, of which nothing is believed but what Slack has signed. */
  receive(request: WebRequest): Promise<WebResponse>;
}

export interface WebhookDependencies {
  readonly host: ChannelHost;
  readonly events: Events;
  /** Absent where deliveries come over a socket. */
  readonly signingSecret: string | undefined;
  /** The agents' side, where this account has one. */
  readonly desk: DeskRoutes | undefined;
}

const noDesk: Reply = {
  response_type: "ephemeral",
  text: "This app answers customers here, and has no commands.",
};

/** Where everything that Slack tells comes in, and is led to the customers' side or to the agents'. */
export function createWebhook({ host, events, signingSecret, desk }: WebhookDependencies): Webhook {
  const authFailures = signingSecret === undefined ? undefined : createAuthFailures(host, signingSecret);

  async function take(delivery: Delivery): Promise<Reply> {
    switch (delivery.kind) {
      case "event": {
        if ((await desk?.owns(delivery.envelope.event)) === true) await desk?.event(delivery.envelope);
        else await events.take(delivery.envelope);
        return null;
      }
      case "interaction":
        return desk === undefined ? null : desk.interaction(delivery.interaction);
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
