import type { Api } from "grammy";
import { GrammyError } from "grammy";
import { withoutToken } from "./failures.ts";
import { grammySignal } from "./grammy-types.ts";

/** Asks Telegram whose token it is, and whether its deliveries arrive. */
export async function checkBot(
  api: Api,
  token: string,
  transport: "webhook" | "polling",
  webhookUrl: string,
  signal: AbortSignal,
): Promise<string> {
  const me = await withoutToken(token, () => whoIs(api, signal));
  if (me === null) {
    throw new Error("Telegram does not know this token: get the bot's token from @BotFather, and set `token`");
  }
  const { username } = me;
  if (transport === "polling") return `@${username}, polling`;
  const {
    url,
    last_error_message: failure,
    pending_update_count: pending,
  } = await withoutToken(token, () => api.getWebhookInfo(grammySignal(signal)));
  if (url !== webhookUrl) {
    if (!webhookUrl.startsWith("https:")) {
      throw new Error(
        `@${username} cannot be delivered to at ${webhookUrl}: set PUBLIC_URL to an https address, or transport: polling, which needs none`,
      );
    }
    throw new Error(
      url === ""
        ? `@${username} has no webhook yet: start Parley, which sets it to ${webhookUrl}`
        : `@${username} delivers to another address: start Parley, which sets it to ${webhookUrl}, or use another bot`,
    );
  }
  if (failure !== undefined && pending > 0) {
    throw new Error(`Telegram could not deliver to ${webhookUrl} (${failure}): check that PUBLIC_URL is reachable`);
  }
  return `@${username}, webhook`;
}

/** Null: Telegram does not know the token. */
async function whoIs(api: Api, signal: AbortSignal) {
  try {
    return await api.getMe(grammySignal(signal));
  } catch (error) {
    if (error instanceof GrammyError && (error.error_code === 401 || error.error_code === 404)) return null;
    throw error;
  }
}
