import type { ChannelHost, WebRequest, WebResponse } from "#channel/contract.ts";
import type { Delivery } from "./deliveries.ts";
import { parseBody } from "./deliveries.ts";
import type { Intake } from "./intake.ts";
import { createRefusals } from "./refusals.ts";
import type { DeskRoutes, Reply } from "./routes.ts";
import { judge } from "./signature.ts";

export interface Door {
  /** Resolves when all that there is to store of the delivery is durable; rejects when it is not. */
  take(delivery: Delivery): Promise<Reply>;
  /** A delivery over HTTP, of which nothing is believed but what Slack has signed. */
  receive(request: WebRequest): Promise<WebResponse>;
}

export interface DoorDependencies {
  readonly host: ChannelHost;
  readonly intake: Intake;
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
export function createDoor({ host, intake, signingSecret, desk }: DoorDependencies): Door {
  const refusals = signingSecret === undefined ? undefined : createRefusals(host, signingSecret);

  async function take(delivery: Delivery): Promise<Reply> {
    switch (delivery.kind) {
      case "event": {
        if ((await desk?.owns(delivery.envelope.event)) === true) await desk?.event(delivery.envelope);
        else await intake.take(delivery.envelope);
        return null;
      }
      case "interaction":
        return desk === undefined ? null : desk.interaction(delivery.interaction);
      case "command":
        return desk === undefined ? noDesk : desk.command(delivery.command);
      case "challenge":
        return { challenge: delivery.challenge };
      case "limited":
        host.log.warn({}, "Slack holds events of this app back for up to an hour: there were more than it delivers");
        return null;
      case "unknown":
        host.log.warn({ what: delivery.what }, "a delivery of Slack has a form that this version does not know");
        return null;
    }
  }

  return {
    take,
    async receive(request) {
      const { method, headers, body } = request;
      if (method !== "POST") return { status: 405, headers: { allow: "POST" } };
      if (signingSecret === undefined) return { status: 404 };
      const judged = judge({ headers, body }, signingSecret, host.clock.now());
      if (judged.kind !== "good") {
        if (headers["x-slack-signature"] !== undefined) await refusals?.refused(judged);
        return { status: 401 };
      }
      const delivery = parseBody(headers["content-type"] ?? "", body);
      if (delivery === null) return { status: 400 };
      try {
        const reply = await take(delivery);
        await refusals?.delivered();
        return reply === null
          ? { status: 200 }
          : { status: 200, headers: { "content-type": "application/json" }, body: JSON.stringify(reply) };
      } catch (error) {
        host.log.error({ err: error }, "a delivery of Slack could not be stored; it is delivered again");
        return { status: 503 };
      }
    },
  };
}
