import type { Api } from "grammy";
import { GrammyError } from "grammy";
import { isInOwnNetwork } from "#channels/http/own-network.ts";
import type { ChannelHost } from "#channels/contract.ts";
import { isUsedForBusiness, refusedOwner } from "./business.ts";
import { withoutToken } from "./errors.ts";
import { grammySignal } from "./client.ts";

export interface BotCheck {
  readonly api: Api;
  readonly token: string;
  readonly transport: "webhook" | "polling";
  readonly webhookUrl: string;
  /** `base_url` is set. Such a server may deliver to any port, and within your network. */
  readonly isOwnServer: boolean;
  readonly state: ChannelHost["state"];
  /** The owners of business accounts that may connect the bot. */
  readonly permitted: ReadonlySet<number>;
}

/** The ports that Telegram delivers to; "" is the default port of https. */
const ports: readonly string[] = ["", "80", "88", "8443"];

/** Returns the bot's name and transport. Throws with an instruction if the token is wrong or deliveries fail. */
export async function checkBot(
  { api, token, transport, webhookUrl, isOwnServer, state, permitted }: BotCheck,
  signal: AbortSignal,
): Promise<string> {
  const me = await withoutToken(token, () => whoIs(api, signal));
  if (me === null) {
    throw new Error("Telegram does not know this token: get the bot's token from @BotFather, and set `token`");
  }
  const { username, can_connect_to_business: mayConnect } = me;
  const refused = await refusedOwner(state);
  const refusal =
    refused === undefined || permitted.has(refused.id)
      ? ""
      : `; the Telegram account ${refused.name} has connected the bot: to answer for it, add ${refused.id} to \`business_owners\``;
  const note =
    mayConnect || !(await isUsedForBusiness(state))
      ? refusal
      : "; Business Mode is off, so Telegram accounts cannot connect the bot: turn it on in @BotFather";
  const {
    url = "",
    last_error_message: failure,
    pending_update_count: pending,
  } = await withoutToken(token, () => api.getWebhookInfo(grammySignal(signal)));
  if (transport === "polling") {
    if (url === "") return `@${username}, polling${note}`;
    throw new Error(
      `@${username} still delivers to ${hostOf(url)}: start Parley, which asks for the messages itself from then on; if it runs, another program has set that address: stop it, or use another bot`,
    );
  }
  if (url !== webhookUrl) {
    if (!webhookUrl.startsWith("https:")) {
      throw new Error(
        `@${username} cannot be delivered to at ${webhookUrl}: set PUBLIC_URL to an https address, or transport: polling, which needs none`,
      );
    }
    if (!isOwnServer && isInOwnNetwork(webhookUrl)) {
      throw new Error(
        `@${username} cannot be delivered to at ${webhookUrl}, which is an address within your own network: set PUBLIC_URL to the https address by which this server is reached from the internet, or transport: polling, which needs none`,
      );
    }
    if (!isOwnServer && !ports.includes(new URL(webhookUrl).port)) {
      throw new Error(
        `@${username} cannot be delivered to at ${webhookUrl}: Telegram delivers to the ports 443, 80, 88 and 8443 only; set PUBLIC_URL to an address with one of them, or transport: polling, which needs none`,
      );
    }
    throw new Error(
      url === ""
        ? `@${username} has no webhook yet: start Parley, which sets it to ${webhookUrl}; if it runs, /health/ready shows why Telegram does not take that address`
        : `@${username} delivers to another address, at ${hostOf(url)}: start Parley, which sets it to ${webhookUrl}; if it runs, another program has set it since: stop that, or use another bot`,
    );
  }
  if (failure !== undefined && pending > 0) {
    throw new Error(`Telegram could not deliver to ${webhookUrl} (${failure}): check that PUBLIC_URL is reachable`);
  }
  return `@${username}, webhook${note}`;
}

/** Only the host is shown: the path may contain another program's secret. */
const hostOf = (url: string): string => URL.parse(url)?.host ?? "another program";

/** Null: Telegram does not know the token. */
async function whoIs(api: Api, signal: AbortSignal) {
  try {
    return await api.getMe(grammySignal(signal));
  } catch (error) {
    if (error instanceof GrammyError && (error.error_code === 401 || error.error_code === 404)) return null;
    throw error;
  }
}
