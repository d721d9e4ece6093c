import type { Api } from "grammy";
import type { ChannelHost } from "#channels/contract.ts";
import { withoutToken } from "./errors.ts";
import type { TelegramMessage } from "./payloads.ts";

/** Decides whether a group's message addresses the bot. */
export interface Addressing {
  /** Rejects when the bot's name is needed, was never read, and Telegram does not answer. */
  isAddressed(message: TelegramMessage): Promise<boolean>;
}

/** A bot's owner can rename it. Mentions of the new name are missed for this long at most. */
const nameMs = 600_000;
/** After a failure the name is not read for this long: busy groups mention users all the time. */
const nameRetryMs = 10_000;

export function createAddressing(
  api: Pick<Api, "getMe">,
  { clock }: Pick<ChannelHost, "clock">,
  botId: number,
  token: string,
): Addressing {
  let cached: { readonly name: string; readonly at: number } | undefined;
  let reading: Promise<string> | undefined;
  let retryAt = -Infinity;

  /** At most `maxAgeMs` old, or older while Telegram does not answer. */
  async function botName(maxAgeMs: number): Promise<string> {
    const known = cached;
    const now = clock.now();
    if (known !== undefined && (now - known.at < maxAgeMs || now < retryAt)) return known.name;
    reading ??= readName();
    try {
      return await reading;
    } catch (error) {
      retryAt = clock.now() + nameRetryMs;
      if (known === undefined) throw error;
      return known.name;
    }
  }

  async function readName(): Promise<string> {
    try {
      const { username } = await withoutToken(token, () => api.getMe());
      cached = { name: username, at: clock.now() };
      return username;
    } finally {
      reading = undefined;
    }
  }

  return {
    async isAddressed(message) {
      if (message.reply_to_message?.from?.id === botId) return true;
      const text = message.text ?? message.caption ?? "";
      const entities = message.entities ?? message.caption_entities ?? [];
      if (entities.some(({ type, user }) => type === "text_mention" && user?.id === botId)) return true;
      const marked = entities
        .filter(({ type }) => type === "mention" || type === "bot_command")
        .map(({ type, offset, length }) => ({ type, text: text.slice(offset, offset + length).toLowerCase() }));
      if (marked.some((mark) => mark.type === "bot_command" && !mark.text.includes("@"))) return true;
      if (marked.length === 0) return false;
      const isNamed = (name: string) => marked.some((mark) => mark.text.endsWith(`@${name.toLowerCase()}`));
      return isNamed(await botName(Infinity)) || isNamed(await botName(nameMs));
    },
  };
}
