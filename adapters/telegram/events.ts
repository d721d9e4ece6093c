import type { Api } from "grammy";
import { Compile } from "typebox/compile";
import type { ChannelHost, InboundEvent } from "#channels/contract.ts";
import type { Reading } from "./inbound.ts";
import { readMessage, readUpdate } from "./inbound.ts";
import { topicsOf } from "./thread.ts";
import type { TelegramMessage } from "./payloads.ts";
import { updateSchema } from "./payloads.ts";

/** A call of the Bot API that greets somebody. */
export interface Greeting {
  readonly method: "sendMessage";
  readonly chat_id: number;
  readonly message_thread_id?: number;
  readonly text: string;
}

export interface Events {
  /** Resolves when all that there is to store of the update is durable; rejects when it is not. */
  take(update: unknown): Promise<Greeting | null>;
}

export interface EventsDependencies {
  readonly host: ChannelHost;
  readonly api: Pick<Api, "getMe">;
  readonly groups: "addressed" | "all" | "off";
  readonly botId: number;
}

const update = Compile(updateSchema);

/** A bot's owner can give it another username; whoever names it by that hears nothing for so long at most. */
const nameMs = 600_000;
/** So long after Telegram has failed to tell it: in a busy group somebody is named all the time. */
const askAgainMs = 10_000;
/** Whoever notices later that the bot does not answer writes once more. */
const namedWithinMs = 3_600_000;

/** The way of an update to the host, whichever way it came from Telegram. */
export function createEvents({ host, api, groups, botId }: EventsDependencies): Events {
  let ownName: { readonly name: string; readonly at: number } | undefined;
  let asked: Promise<string> | undefined;
  let askAgainAt = -Infinity;

  return {
    async take(given) {
      if (!update.Check(given)) {
        host.log.warn({}, "telegram: unknown update skipped");
        return null;
      }
      const reading = readUpdate(given);
      switch (reading.kind) {
        case "ignored":
          host.log.debug({ reason: reading.reason }, "telegram: update skipped");
          return null;
        case "start": {
          const topic = reading.topicId === undefined ? {} : { message_thread_id: reading.topicId };
          return { method: "sendMessage", chat_id: reading.chatId, ...topic, text: (await host.workspace()).greeting };
        }
        case "event":
          if (reading.message !== undefined && !(await counts(reading.message))) {
            const rest = withKnown(reading.event);
            if (rest === undefined) host.log.debug({}, "telegram: message that does not address the bot skipped");
            else await host.accept(rest);
            return null;
          }
          if (await isBegunBy(reading)) return null;
          await host.accept(reading.event);
          if (reading.event.kind === "reach") await acceptInTopics(reading.event);
          return null;
      }
    },
  };

  /** Somebody in a group has put the bot's name into what they had written, which nobody has said to it before. */
  async function isBegunBy({ event, message }: Extract<Reading, { kind: "event" }>): Promise<boolean> {
    if (event.kind !== "edit" || message === undefined || message.chat.type === "private") return false;
    // Telegram also tells of changes that nobody has made, of messages however old.
    if (host.clock.now() - message.date * 1_000 > namedWithinMs) return false;
    const written = readMessage(message);
    return written.kind === "event" && !(await host.accept(written.event)).duplicate;
  }

  /** Each topic of a chat is a thread of its own, and out of reach with it. */
  async function acceptInTopics(event: Extract<InboundEvent, { kind: "reach" }>): Promise<void> {
    const threads = await host.threadsBeginning(topicsOf(event.thread));
    await Promise.all(
      threads.map((thread) => host.accept({ ...event, externalId: `${event.externalId}:${thread}`, thread })),
    );
  }

  /** What belongs to a message that has addressed the bot: of an album only one picture does, and a change need not. */
  function withKnown(event: InboundEvent): InboundEvent | undefined {
    if (groups === "off") return undefined;
    if (event.kind === "edit") return { ...event, knownOnly: true };
    if (event.kind !== "message" || event.group === undefined) return undefined;
    return { ...event, group: { ...event.group, joinsOnly: true } };
  }

  async function counts(message: TelegramMessage): Promise<boolean> {
    if (message.chat.type === "private" || groups === "all") return true;
    return groups === "addressed" && (await isAddressed(message));
  }

  async function isAddressed(message: TelegramMessage): Promise<boolean> {
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
  }

  /** As it was so long ago at most; as it was last known, when Telegram does not tell it now. */
  async function botName(withinMs: number): Promise<string> {
    const known = ownName;
    const now = host.clock.now();
    if (known !== undefined && (now - known.at < withinMs || now < askAgainAt)) return known.name;
    asked ??= askName();
    try {
      return await asked;
    } catch (error) {
      askAgainAt = host.clock.now() + askAgainMs;
      if (known === undefined) throw error;
      return known.name;
    }
  }

  async function askName(): Promise<string> {
    try {
      const { username } = await api.getMe();
      ownName = { name: username, at: host.clock.now() };
      return username;
    } finally {
      asked = undefined;
    }
  }
}
