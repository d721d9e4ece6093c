import type { ChannelHost, WebRequest, WebResponse } from "#channels/contract.ts";
import { fieldsOf } from "../deliveries/deliveries.ts";
import { signatureOf } from "../deliveries/signature.ts";
import type { Reply } from "../deliveries/app.ts";

/**
 * An app that is installed in several workspaces of Slack delivers all events to one address, or to any of its sockets. Each
 * workspace has an account here.
 */
export interface Relay {
  /** The response of the account that the delivery is for. Null: it is for this account. */
  take(given: unknown, request: () => WebRequest): Promise<WebResponse | null>;
}

export function createRelay({ installation, log }: Pick<ChannelHost, "installation" | "log">): Relay {
  return {
    async take(given, request) {
      const to = installation === undefined ? undefined : addresseeOf(given);
      if (installation === undefined || to === undefined || to.key === installation.key) return null;
      const response = await installation.deliver(to.key, request());
      if (response !== null || !to.isCertain) return response;
      log.info({ installation: to.key }, "slack: delivery for a workspace that is not connected skipped");
      return { status: 200 };
    },
  };
}

interface Addressee {
  /** The installation's key, as {@link install} makes it: the app and its team. */
  readonly key: string;
  /** False: in shared channels, it may be the team of the other company. */
  readonly isCertain: boolean;
}

/** The installation that a delivery is for, as Bolt chooses it; undefined where the delivery does not say. */
function addresseeOf(given: unknown): Addressee | undefined {
  const delivery = fieldsOf(given);
  const [authorization] = Array.isArray(delivery["authorizations"]) ? (delivery["authorizations"] as unknown[]) : [];
  const authorized = fieldsOf(authorization)["team_id"];
  const teams = [
    authorized,
    delivery["team_id"],
    fieldsOf(delivery["view"])["app_installed_team_id"],
    fieldsOf(delivery["team"])["id"],
    fieldsOf(delivery["user"])["team_id"],
  ];
  const [team] = teams.filter((each) => typeof each === "string" && each !== "");
  const app = delivery["api_app_id"];
  if (typeof app !== "string" || typeof team !== "string") return undefined;
  return { key: `${app}/${team}`, isCertain: team === authorized };
}

/** A delivery of a socket as it would arrive over HTTP, for the account of another workspace, which verifies it. */
export function signedRequest(delivery: unknown, secret: string, now: number): WebRequest {
  const body = Buffer.from(JSON.stringify(delivery));
  const timestamp = String(Math.floor(now / 1_000));
  const headers = {
    "content-type": "application/json",
    "x-slack-request-timestamp": timestamp,
    "x-slack-signature": signatureOf(secret, timestamp, body),
  };
  return { method: "POST", path: "", query: {}, headers, body, remoteAddress: "" };
}

/** Throws for a response that is no acknowledgement. */
export function replyIn({ status, body }: WebResponse): Reply {
  if (status !== 200) throw new Error(`the account of the delivery's workspace has answered ${status}`);
  return body === undefined ? null : (JSON.parse(String(body)) as Reply);
}
