import type { ChannelHost } from "#channels/contract.ts";
import { isInOwnNetwork } from "#channels/http/own-network.ts";
import type { GraphApi } from "./client.ts";
import type { Settings } from "./config.ts";
import { readPhoneNumber, readToken, usableStates } from "./registration.ts";

/** Returns the number's name. Throws an Error that names the fix when messages cannot be sent or do not arrive. */
export async function checkNumber(
  api: GraphApi,
  settings: Settings,
  { webhookUrl }: Pick<ChannelHost, "webhookUrl">,
  signal: AbortSignal,
): Promise<string> {
  const { name, number, quality, status, deliversTo } = await readPhoneNumber(api, settings, signal);
  const called = `${name}, ${number}`;
  if (status !== undefined && !usableStates.has(status)) {
    throw new Error(
      `${called} has the status ${status} at Meta: ${
        settings.pin === undefined
          ? "set `pin` to six digits, with which Parley registers the number, or see the page Phone numbers in WhatsApp Manager"
          : "see the page Phone numbers in WhatsApp Manager, and start Parley, which registers the number with `pin`"
      }`,
    );
  }
  if (!webhookUrl.startsWith("https:") || isInOwnNetwork(webhookUrl)) {
    if (settings.ownServer === undefined) {
      throw new Error(
        `${called} cannot be delivered to at ${new URL(webhookUrl).origin}: set PUBLIC_URL to the https address by which this server is reached from the internet`,
      );
    }
  }
  if (deliversTo !== webhookUrl) {
    const place = deliversTo === undefined ? "nowhere" : `to ${URL.parse(deliversTo)?.host ?? "another address"}`;
    throw new Error(
      `${called} delivers ${place}: start Parley, which tells Meta its address; if it runs, another program has set that address: stop it, or use another number`,
    );
  }
  const expiry = (await readToken(api, settings, signal))?.expiresAt ?? null;
  return [
    called,
    ...(quality === undefined || quality === "GREEN" || quality === "UNKNOWN" ? [] : [`its quality is ${quality}`]),
    ...(expiry === null
      ? []
      : [`the access token expires at ${new Date(expiry).toISOString()}: a token of a system user need not`]),
  ].join("; ");
}
