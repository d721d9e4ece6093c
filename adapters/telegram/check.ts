import type { Api } from "grammy";
import { GrammyError } from "grammy";
import { grammySignal } from "./signal.ts";

/** Asks Telegram whose token it is, and whether its deliveries arrive. */
export async function checkBot(
  api: Api,
  transport: "webhook" | "polling",
  webhookUrl: string,
  signal: AbortSignal,
): Promise<string> {
  let username: string;
  try {
    ({ username } = await api.getMe(grammySignal(signal)));
  } catch (error) {
    if (error instanceof GrammyError && (error.error_code === 401 || error.error_code === 404)) {
      throw new Error("Telegram does not know this token: get the bot's token from @BotFather, and set `token`", {
        cause: error,
      });
    }
    throw error;
  }
  if (transport === "polling") return `@${username}, polling`;
  const {
    url,
    last_error_message: failure,
    pending_update_count: pending,
  } = await api.getWebhookInfo(grammySignal(signal));
  if (url !== webhookUrl) {
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
