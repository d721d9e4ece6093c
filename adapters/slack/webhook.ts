import type { ChannelHost, WebRequest, WebResponse } from "#channels/contract.ts";
import type { Deliveries } from "./deliveries/app.ts";
import { createAuthFailures } from "./deliveries/auth-failures.ts";
import { readBody } from "./deliveries/deliveries.ts";
import { judge, maySign } from "./deliveries/signature.ts";
import type { Relay } from "./install/relay.ts";

export interface Webhook {
  /** Refuses unsigned requests before their body is read. */
  refuse(request: Omit<WebRequest, "body">): WebResponse | null;
  /** Handles a delivery over HTTP after its signature is verified. */
  receive(request: WebRequest): Promise<WebResponse>;
  /** Verifies a delivery while the account is paused, and passes on those for other accounts. */
  relay(request: WebRequest): Promise<WebResponse | null>;
}

export interface WebhookDependencies {
  readonly host: ChannelHost;
  readonly deliveries: Deliveries;
  readonly relay: Relay;
  readonly signingSecret: string;
}

/** Receives Slack's deliveries over HTTP. */
export function createWebhook({ host, deliveries, relay, signingSecret }: WebhookDependencies): Webhook {
  const authFailures = createAuthFailures(host, signingSecret);
  return {
    refuse({ method, headers }) {
      if (method !== "POST") return { status: 405, headers: { allow: "POST" } };
      return maySign(headers) ? null : { status: 401 };
    },
    receive: (request) =>
      respond(request, async (given) => {
        const relayed = await relay.take(given, () => request);
        if (relayed !== null) return relayed;
        const reply = await deliveries.take(given);
        return reply === null
          ? { status: 200 }
          : { status: 200, headers: { "content-type": "application/json" }, body: JSON.stringify(reply) };
      }),
    relay: (request) => respond(request, (given) => relay.take(given, () => request)),
  };

  async function respond<Response>(
    request: WebRequest,
    take: (given: unknown) => Promise<Response>,
  ): Promise<Response | WebResponse> {
    const read = await verified(request);
    if ("status" in read) return read;
    try {
      const response = await take(read.given);
      await authFailures.delivered();
      return response;
    } catch (error) {
      host.log.error({ err: error }, "slack: storing a delivery failed, awaiting redelivery");
      return { status: 503 };
    }
  }

  async function verified({ headers, body }: WebRequest): Promise<WebResponse | { readonly given: unknown }> {
    const judged = judge({ headers, body }, signingSecret, host.clock.now());
    if (judged.kind !== "good") {
      if (headers["x-slack-signature"] !== undefined) await authFailures.refused(judged);
      return { status: 401 };
    }
    const given = readBody(headers["content-type"] ?? "", body);
    return given === undefined ? { status: 400 } : { given };
  }
}
