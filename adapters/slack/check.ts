import { WebClient } from "@slack/web-api";
import type { Log } from "#channel/contract.ts";
import type { SlackApi } from "./client.ts";
import { clientOptions, sdkLogger } from "./client.ts";
import type { Transport } from "./config.ts";
import { failureOf, operatorError } from "./failures.ts";

/** What the app must be allowed to, and for what. */
export const scopes: readonly (readonly [string, string])[] = [
  ["chat:write", "to answer"],
  ["app_mentions:read", "to hear of mentions"],
  ["im:history", "to read direct messages"],
  ["channels:history", "to read channels"],
  ["groups:history", "to read private channels"],
  ["mpim:history", "to read groups"],
  ["users:read", "to know the customers' names"],
  ["files:read", "to fetch what customers attach"],
  ["files:write", "to send files"],
];

/** Asks Slack whose token it is, what it may do, and, for Socket Mode, whether it could connect. */
export async function checkApp(api: SlackApi, transport: Transport, log: Log, signal: AbortSignal): Promise<string> {
  let team: string;
  let user: string;
  let granted: readonly string[];
  try {
    const { team: named, user: called, response_metadata: more } = await api.client(signal).auth.test();
    team = named ?? "a workspace";
    user = called ?? "the app";
    granted = more?.scopes ?? [];
  } catch (error) {
    throw operatorError(failureOf(error));
  }
  const missing = scopes.filter(([scope]) => !granted.includes(scope));
  // A server that stands for Slack's may not tell the scopes at all.
  if (granted.length > 0 && missing.length > 0) {
    const list = missing.map(([scope, purpose]) => `${scope} (${purpose})`).join(", ");
    throw new Error(
      `@${user} in ${team} lacks ${list}: add ${missing.length === 1 ? "it" : "them"} under OAuth & Permissions, and install the app again`,
    );
  }
  if (transport.kind === "socket") {
    await checkSocket(api, transport.appToken, log);
    return `@${user} in ${team}, Socket Mode`;
  }
  if (!transport.url.startsWith("https:")) {
    throw new Error(
      `@${user} in ${team} cannot be delivered to at ${transport.url}: set PUBLIC_URL to an https address, or app_token for Socket Mode`,
    );
  }
  // Slack tells nobody where it delivers to: the operator compares.
  return `@${user} in ${team}; the Request URL of its events has to be ${transport.url}`;
}

/** Asks for the address of a socket, without connecting to it. */
async function checkSocket(api: SlackApi, appToken: string, log: Log): Promise<void> {
  const client = new WebClient(appToken, { ...clientOptions(api.baseUrl), logger: sdkLogger(log) });
  try {
    await client.apps.connections.open({});
  } catch (error) {
    const failure = failureOf(error);
    if (failure.kind !== "refused") throw operatorError(failure);
    throw new Error(
      `Slack refuses app_token (${failure.code}): switch Socket Mode on, and make an app-level token with the scope connections:write on the app's page Basic Information`,
      { cause: error },
    );
  }
}
