import type { Api } from "grammy";
import { Compile } from "typebox/compile";
import type { ChannelHost, InboundEvent } from "#channels/contract.ts";
import { buttonsAfter } from "#channels/opinion-buttons.ts";
import { createAddressing } from "./addressing.ts";
import type { BusinessConnections } from "./business.ts";
import { byConnection } from "./business.ts";
import { grammySignal } from "./client.ts";
import { failureOf } from "./errors.ts";
import type { Reading } from "./inbound.ts";
import { connectionOf, eventIdOf, readMessage, readUpdate } from "./inbound.ts";
import { keyboardOf } from "./send.ts";
import { topicsOf } from "./thread.ts";
import type { TelegramMessage } from "./payloads.ts";
import { updateSchema } from "./payloads.ts";

/** A call of the Bot API that sends the greeting. */
export interface Greeting {
  readonly method: "sendMessage";
  readonly chat_id: number;
  readonly message_thread_id?: number;
  readonly text: string;
}

export interface Events {
  /** Resolves when the update's event is stored; rejects when it is not. */
  take(update: unknown): Promise<Greeting | null>;
}

export interface EventsDependencies {
  readonly host: ChannelHost;
  readonly api: Pick<Api, "getMe" | "answerCallbackQuery" | "editMessageReplyMarkup">;
  readonly token: string;
  readonly groups: "addressed" | "all" | "off";
  readonly botId: number;
  readonly connections: BusinessConnections;
}

const update = Compile(updateSchema);

/** The time for the acknowledgement of a press, which other updates wait for. */
const displayMs = 5_000;
/** Shown for a moment; needs no translation. */
const thanks = "🙏";

/** An edit that adds the bot's name to an older message is ignored: its author has written again by then. */
const namedWithinMs = 3_600_000;

/** Turns updates into events of the host, for the webhook and for polling. */
export function createEvents(dependencies: EventsDependencies): Events {
  const { host, api, token, groups, botId, connections } = dependencies;
  const addressing = createAddressing(api, host, botId, token);

  return {
    async take(given) {
      if (!update.Check(given)) {
        host.log.warn({}, "telegram: unknown update skipped");
        return null;
      }
      const connectionId = connectionOf(given);
      const owner = connectionId === undefined ? undefined : await connections.ownerOf(connectionId);
      const reading = readUpdate(given, botId, owner);
      switch (reading.kind) {
        case "ignored":
          host.log.debug({ reason: reading.reason }, "telegram: update skipped");
          return null;
        case "start": {
          if (reading.event !== undefined) await host.accept(reading.event);
          const topic = reading.topicId === undefined ? {} : { message_thread_id: reading.topicId };
          return { method: "sendMessage", chat_id: reading.chatId, ...topic, text: (await host.workspace()).greeting };
        }
        case "press":
          await acceptPress(dependencies, reading);
          return null;
        case "connection":
          await connections.keep(reading.connection);
          return null;
        case "event":
          if (reading.message !== undefined && !(await isForBot(reading.message))) {
            const continuation = ofKnownMessage(reading.event);
            if (continuation === undefined)
              host.log.debug({}, "telegram: message that does not address the bot skipped");
            else await host.accept(continuation);
            return null;
          }
          if (await acceptedAsNew(reading)) return null;
          if (reading.event.kind === "reaction") {
            await acceptReaction(host, reading.event);
            return null;
          }
          await host.accept(reading.event);
          if (reading.event.kind === "reach") await acceptInTopics(host, reading.event);
          return null;
      }
    },
  };

  /** An edit that adds the bot's name to a group's message is stored as a new message, unless the message is known. */
  async function acceptedAsNew({ event, message }: Extract<Reading, { kind: "event" }>): Promise<boolean> {
    if (event.kind !== "edit" || message === undefined || message.chat.type === "private") return false;
    // Telegram also sends edits without a change, even for old messages.
    if (host.clock.now() - message.date * 1_000 > namedWithinMs) return false;
    const original = readMessage(message, botId);
    return original.kind === "event" && !(await host.accept(original.event)).duplicate;
  }

  /**
   * An event that counts only with an earlier message that addressed the bot: a picture of the same album, or an edit
   * that no longer names the bot. Undefined for other events.
   */
  function ofKnownMessage(event: InboundEvent): InboundEvent | undefined {
    if (groups === "off") return undefined;
    if (event.kind === "edit") return { ...event, knownOnly: true };
    if (event.kind !== "message" || event.group === undefined) return undefined;
    return { ...event, group: { ...event.group, joinsOnly: true } };
  }

  async function isForBot(message: TelegramMessage): Promise<boolean> {
    if (message.chat.type === "private" || groups === "all") return true;
    return groups === "addressed" && (await addressing.isAddressed(message));
  }
}

/** Stores before it acknowledges: only the display depends on the acknowledgement. */
async function acceptPress(
  { host, api, token }: Pick<EventsDependencies, "host" | "api" | "token">,
  { id, opinion, message, thread, sender }: Extract<Reading, { kind: "press" }>,
): Promise<void> {
  const event: InboundEvent = {
    ...opinion,
    externalId: `press:${id}`,
    thread,
    sender,
    // Telegram gives no time of a press.
    sentAt: host.clock.now(),
  };
  // Null: it does not count, such as a press of somebody else in the group.
  const counts = (await host.accept(event)).messageId !== null;
  const signal = grammySignal(AbortSignal.timeout(displayMs));
  const { chat, message_id: messageId, business_connection_id: connectionId } = message;
  const shown = { reply_markup: keyboardOf(buttonsAfter(opinion)), ...byConnection(connectionId) };
  const results = await Promise.allSettled([
    api.answerCallbackQuery(id, counts ? { text: thanks } : {}, signal),
    ...(counts ? [api.editMessageReplyMarkup(chat.id, messageId, shown, signal)] : []),
  ]);
  for (const result of results) {
    if (result.status === "fulfilled") continue;
    host.log.debug({ reason: failureOf(result.reason, token).description }, "telegram: acknowledging a button failed");
  }
}

/**
 * Telegram does not say in which topic of a group the message is. Reactions to messages of a group that are in no
 * conversation are not stored.
 */
async function acceptReaction(host: ChannelHost, event: Extract<InboundEvent, { kind: "reaction" }>): Promise<void> {
  const [partId = ""] = event.of.externalIds;
  const isPrivate = Number(event.thread) > 0;
  const thread = isPrivate ? event.thread : await host.threads.ofMessage({ partId, eventId: eventIdOf(partId) });
  if (thread !== null) await host.accept({ ...event, thread });
}

/** A chat's reachability applies to each of its topics, which are threads of their own. */
async function acceptInTopics(host: ChannelHost, event: Extract<InboundEvent, { kind: "reach" }>): Promise<void> {
  const threads = await host.threads.withPrefix(topicsOf(event.thread));
  await Promise.all(
    threads.map((thread) => host.accept({ ...event, externalId: `${event.externalId}:${thread}`, thread })),
  );
}
