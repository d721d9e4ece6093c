import { Value } from "typebox/value";
import type { TSchema, Static } from "typebox";
import type { ChannelHost, InboundEvent } from "#channels/contract.ts";
import {
  deleteEvent,
  editEvent,
  eventId,
  mentions,
  messageEvent,
  notACustomer,
  personButton,
  pressEvent,
} from "./inbound.ts";
import type { DiscordMessage, DiscordPress } from "./payloads.ts";
import { bulkDeleteSchema, byAge, deleteSchema, messageSchema, pressSchema } from "./payloads.ts";
import { threadOf } from "./thread.ts";

/** A packet of the gateway, as it came. */
export interface Packet {
  readonly t?: unknown;
  readonly d?: unknown;
}

export interface Events {
  /** Resolves when all that there is to store of the packet is durable. */
  take(packet: Packet): Promise<void>;
  /** The messages of a thread that came after the newest one that is known; from Discord's history. */
  catchUp(thread: string, history: readonly unknown[]): Promise<void>;
}

export interface EventsDependencies {
  readonly host: Pick<ChannelHost, "accept" | "thread" | "log" | "clock">;
  readonly guilds: "off" | "threads";
  readonly botId: string;
  /** The channel that a thread hangs on; null for a channel that is no thread. */
  parentOf(channelId: string): Promise<string | null>;
  /** What stands on the button for a person; undefined: there is none. */
  readonly personLabel: string | undefined;
  /** Takes the button away, and lets Discord show that it was heard. Does not reject. */
  answerPress(press: DiscordPress): Promise<void>;
}

/** The way of the gateway's packets to the host. */
export function createEvents({ host, guilds, botId, parentOf, personLabel, answerPress }: EventsDependencies): Events {
  return {
    async take({ t, d }) {
      switch (t) {
        case "MESSAGE_CREATE":
          return created(read(messageSchema, d));
        case "MESSAGE_UPDATE":
          return edited(read(messageSchema, d));
        case "MESSAGE_DELETE": {
          const gone = read(deleteSchema, d);
          return gone === undefined ? undefined : deleted([gone.id], gone);
        }
        case "MESSAGE_DELETE_BULK": {
          const gone = read(bulkDeleteSchema, d);
          return gone === undefined ? undefined : deleted(gone.ids, gone);
        }
        case "INTERACTION_CREATE":
          return pressed(read(pressSchema, d));
        default:
      }
    },
    async catchUp(thread, history) {
      const messages = history.filter((each): each is DiscordMessage => Value.Check(messageSchema, each));
      for (const message of messages.toSorted(byAge)) {
        if (notACustomer(message) === undefined) await accept(messageEvent(message, thread, botId));
      }
    },
  };

  function read<S extends TSchema>(schema: S, data: unknown): Static<S> | undefined {
    if (Value.Check(schema, data)) return data;
    host.log.debug({}, "discord: unknown packet skipped");
    return undefined;
  }

  async function created(message: DiscordMessage | undefined): Promise<void> {
    if (message === undefined) return;
    const nobody = notACustomer(message);
    const thread = nobody === undefined ? await threadFor(message) : null;
    if (thread !== null) await accept(messageEvent(message, thread, botId));
    else host.log.debug({ reason: nobody ?? "it does not address the bot" }, "discord: message skipped");
  }

  async function edited(message: DiscordMessage | undefined): Promise<void> {
    if (message === undefined || notACustomer(message) !== undefined) return;
    const thread = await knownThread(message.channel_id, message.guild_id, message.id);
    if (thread !== null) await accept(editEvent(message, thread, botId));
  }

  async function deleted(
    ids: readonly string[],
    { channel_id, guild_id }: { readonly channel_id: string; readonly guild_id?: string },
  ): Promise<void> {
    for (const id of ids) {
      const thread = await knownThread(channel_id, guild_id, id);
      if (thread !== null) await accept(deleteEvent(id, thread, host.clock.now()));
    }
  }

  /** Stored first: Discord is told of it within three seconds or not at all, and only shows what it was told. */
  async function pressed(press: DiscordPress | undefined): Promise<void> {
    if (press === undefined || personLabel === undefined || press.data.custom_id !== personButton) return;
    // Where the bot may not open threads, its answer stands in the channel and names what it answers.
    const asked = press.message.message_reference?.message_id;
    const thread = await knownThread(press.channel_id, press.guild_id, asked);
    if (thread === null) return;
    await accept(pressEvent(press, thread, personLabel));
    await answerPress(press);
  }

  async function accept(event: InboundEvent | null): Promise<void> {
    if (event !== null) await host.accept(event);
  }

  /** Null where the message is not for us. */
  async function threadFor(message: DiscordMessage): Promise<string | null> {
    const { channel_id: channelId, guild_id: guildId } = message;
    if (guildId === undefined) return threadOf({ kind: "direct", channelId });
    if (guilds === "off") return null;
    const known = await knownThread(channelId, guildId);
    if (known !== null) return known;
    if (!mentions(message, botId)) return null;
    const parentId = await parentOf(channelId);
    return parentId === null
      ? threadOf({ kind: "thread", parentId: channelId, threadId: message.id })
      : threadOf({ kind: "thread", parentId, threadId: channelId });
  }

  /** The thread, where there is a conversation in it: that of a channel that is one, else the one that `messageId` began. */
  async function knownThread(
    channelId: string,
    guildId: string | undefined,
    messageId?: string,
  ): Promise<string | null> {
    if (guildId === undefined) return threadOf({ kind: "direct", channelId });
    if (guilds === "off") return null;
    const parentId = await parentOf(channelId);
    if (parentId === null && messageId === undefined) return null;
    const thread = threadOf(
      parentId === null
        ? { kind: "thread", parentId: channelId, threadId: messageId ?? "" }
        : { kind: "thread", parentId, threadId: channelId },
    );
    return (await host.thread(thread)) === null ? null : thread;
  }
}

/** What the host knows a message by, without the word before it. */
export function messageIdOf(externalId: string | null): string | undefined {
  const prefix = eventId("");
  const id = externalId?.startsWith(prefix) === true ? externalId.slice(prefix.length) : (externalId ?? "");
  return /^[0-9]{1,20}$/.test(id) ? id : undefined;
}
