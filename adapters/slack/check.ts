import { WebClient } from "@slack/web-api";
import type { ChannelHost } from "#channels/contract.ts";
import { isInOwnNetwork } from "#channels/http/own-network.ts";
import type { SlackApi } from "./client.ts";
import { clientOptions, sdkLogger } from "./client.ts";
import type { Transport } from "./config.ts";
import { failureOf, operatorError } from "./errors.ts";
import { lastAuthFailure } from "./deliveries/auth-failures.ts";
import type { Log } from "#runtime/log.ts";

/** The app's OAuth scopes, and the reason for each. */
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

/** Scopes that an installation works without, and what does not work then. */
export const optionalScopes: readonly (readonly [string, string])[] = [
  ["users:read.email", "customers are not recognised by their address on other channels"],
  ["assistant:write", "threads of the assistant view have no title and no status"],
  ["reactions:read", "customers' reactions are not seen"],
  ["reactions:write", "agents' reactions do not reach customers"],
];

/** Lists the missing scopes with an instruction; undefined if all are granted. */
export function missingScopes(
  needed: readonly (readonly [string, string])[],
  granted: readonly string[],
): string | undefined {
  const missing = needed.filter(([scope]) => !granted.includes(scope));
  if (missing.length === 0) return undefined;
  const list = missing.map(([scope, purpose]) => `${scope} (${purpose})`).join(", ");
  return `${list}: add ${missing.length === 1 ? "it" : "them"} as Bot Token Scopes under OAuth & Permissions, and install the app again`;
}

/** Lists what does not work, for the end of a good result; empty: all scopes are granted, or none are known. */
export function withoutOptional(optional: typeof optionalScopes, granted: readonly string[]): string {
  const missing = granted.length === 0 ? undefined : missingScopes(optional, granted);
  return missing === undefined ? "" : `; lacking optional scopes: ${missing}`;
}

/** Returns the app's name. Throws with an instruction if a token, a scope or the connection is wrong. */
export async function checkApp(
  api: SlackApi,
  transport: Transport,
  host: Pick<ChannelHost, "desk" | "installation" | "log" | "state">,
  signal: AbortSignal,
): Promise<string> {
  let team: string;
  let user: string;
  let botId: string | undefined;
  let granted: readonly string[];
  try {
    const { team: named, user: called, bot_id, response_metadata: more } = await api.client(signal).auth.test();
    botId = bot_id;
    team = named ?? "a workspace";
    user = called ?? "the app";
    granted = more?.scopes ?? [];
  } catch (error) {
    throw operatorError(failureOf(error));
  }
  // Servers that imitate Slack may not list scopes.
  const missing = granted.length === 0 ? undefined : missingScopes(scopes, granted);
  if (missing !== undefined) throw new Error(`@${user} in ${team} lacks ${missing}`);
  if (transport.kind === "socket") {
    const [own, { app_id: other, app_name: name }] = await Promise.all([
      appOf(api, botId, signal),
      checkSocket(api, transport.appToken, host.log),
    ]);
    if (own !== undefined && other !== undefined && own !== other) {
      throw new Error(
        `app_token is of another app (${name ?? other}) than bot_token, which is @${user}'s in ${team}: take both from the same app`,
      );
    }
    return `@${user} in ${team}, Socket Mode${withoutOptional(optionalScopes, granted)}`;
  }
  if (!transport.url.startsWith("https:")) {
    throw new Error(
      `@${user} in ${team} cannot be delivered to at ${transport.url}: set PUBLIC_URL to an https address, or app_token for Socket Mode`,
    );
  }
  if (isInOwnNetwork(transport.url)) {
    throw new Error(
      `@${user} in ${team} cannot be delivered to at ${transport.url}, which is an address within your own network: set PUBLIC_URL to the https address by which this server is reached from the internet, or app_token for Socket Mode`,
    );
  }
  const refusal = await lastAuthFailure(host, transport.signingSecret);
  if (refusal !== undefined) {
    throw new Error(
      `@${user} in ${team}: what was delivered last to ${transport.url} was refused: ${refusal}; then write to the app, and ask again`,
    );
  }
  // The API does not return the configured addresses, so the operator compares them.
  const what =
    host.desk === undefined
      ? "its events and of Interactivity"
      : "its events, of Interactivity and of the command /parley";
  // An app of several workspaces has one address.
  const orOther = host.installation === undefined ? "" : " or that of another account of this app";
  return `@${user} in ${team}; the Request URL of ${what} has to be ${transport.url}${orOther}${withoutOptional(optionalScopes, granted)}`;
}

/** The app of the bot; undefined when Slack does not name it. */
async function appOf(api: SlackApi, bot: string | undefined, signal: AbortSignal): Promise<string | undefined> {
  if (bot === undefined) return undefined;
  try {
    return (await api.client(signal).bots.info({ bot })).bot?.app_id;
  } catch {
    return undefined;
  }
}

/** Requests a socket's address without connecting; returns the token's app if Slack names it. */
async function checkSocket(
  api: SlackApi,
  appToken: string,
  log: Log,
): Promise<{ readonly app_id?: string; readonly app_name?: string }> {
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
  try {
    return await client.auth.test();
  } catch {
    // The token may connect; the app's name is optional.
    return {};
  }
}
