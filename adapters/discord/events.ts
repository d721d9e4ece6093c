import { Value } from "typebox/value";
import type { TSchema, Static } from "typebox";
import type { ChannelHost, InboundEvent } from "#channels/contract.ts";
import { readOpinion } from "#channels/opinion-buttons.ts";
import { buttonsAfterPress, personButton } from "./buttons.ts";
import {
  deleteEvent,
  editEvent,
  eventId,
  messageEvent,
  notACustomer,
  opinionEvent,
  personEvent,
  reactionEvent,
} from "./inbound.ts";
import type { DiscordMessage, DiscordPress, DiscordReaction } from "./payloads.ts";
import { bulkDeleteSchema, byAge, deleteSchema, messageSchema, pressSchema, reactionSchema } from "./payloads.ts";
import type { ThreadLookup } from "./thread-lookup.ts";

/** A packet of the gateway, not validated. */
export interface Packet {
  readonly t?: unknown;
  readonly d?: unknown;
}

export interface Events {
  /** Resolves when the packet's event is stored. */
  take(packet: Packet): Promise<void>;
  /** Stores messages of a thread's history. */
  catchUp(thread: string, history: readonly unknown[]): Promise<void>;
}

export interface EventsDependencies {
  readonly host: Pick<ChannelHost, "accept" | "log" | "clock">;
  readonly threads: ThreadLookup;
  readonly botId: string;
  /** The label of the button that asks for a person; undefined: no button. */
  readonly personLabel: string | undefined;
  /** Acknowledges the press, and shows these buttons; undefined: the message stays as it is. Does not reject. */
  answerPress(press: DiscordPress, buttons: ReturnType<typeof buttonsAfterPress> | undefined): Promise<void>;
}

/** Turns the gateway's packets into events of the host. */
export function createEvents({ host, threads, botId, personLabel, answerPress }: EventsDependencies): Events {
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
        case "MESSAGE_REACTION_ADD":
        case "MESSAGE_REACTION_REMOVE":
          return reacted(read(reactionSchema, d), t === "MESSAGE_REACTION_ADD");
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
    const reason = notACustomer(message);
    const thread = reason === undefined ? await threads.forMessage(message) : null;
    if (thread !== null) await accept(messageEvent(message, thread, botId));
    else host.log.debug({ reason: reason ?? "it does not address the bot" }, "discord: message skipped");
  }

  async function edited(message: DiscordMessage | undefined): Promise<void> {
    if (message === undefined || notACustomer(message) !== undefined) return;
    const thread = await threads.existing(message.channel_id, message.guild_id, message.id);
    if (thread !== null) await accept(editEvent(message, thread, botId));
  }

  async function deleted(
    ids: readonly string[],
    { channel_id, guild_id }: { readonly channel_id: string; readonly guild_id?: string },
  ): Promise<void> {
    for (const id of ids) {
      const thread = await threads.existing(channel_id, guild_id, id);
      if (thread !== null) await accept(deleteEvent(id, thread, host.clock.now()));
    }
  }

  async function reacted(reaction: DiscordReaction | undefined, isAdded: boolean): Promise<void> {
    if (reaction === undefined || reaction.user_id === botId) return;
    const thread = await threads.existing(reaction.channel_id, reaction.guild_id, reaction.message_id);
    if (thread !== null) await accept(reactionEvent(reaction, thread, isAdded, host.clock.now()));
  }

  /** Stores before it acknowledges: Discord accepts an acknowledgement for three seconds, and only its display depends on it. */
  async function pressed(press: DiscordPress | undefined): Promise<void> {
    if (press === undefined) return;
    const opinion = readOpinion(press.data.custom_id);
    const label = press.data.custom_id === personButton ? personLabel : undefined;
    if (opinion === undefined && label === undefined) return;
    // A bot that may not open threads replies in the channel, with a reference to the customer's message.
    const answeredId = press.message.message_reference?.message_id;
    const thread = await threads.existing(press.channel_id, press.guild_id, answeredId);
    if (thread === null) return;
    if (label !== undefined) await accept(personEvent(press, thread, label));
    const counts = opinion === undefined || (await countsAs(opinionEvent(press, thread, opinion)));
    await answerPress(press, counts ? buttonsAfterPress(press, opinion) : undefined);
  }

  /** Stores an opinion. False: it does not count, such as one of somebody else in the channel. */
  async function countsAs(event: InboundEvent | null): Promise<boolean> {
    return event !== null && (await host.accept(event)).messageId !== null;
  }

  async function accept(event: InboundEvent | null): Promise<void> {
    if (event !== null) await host.accept(event);
  }
}

/** The message's id from an event's external id, with or without the prefix; undefined for other ids. */
export function messageIdOf(externalId: string | null): string | undefined {
  const prefix = eventId("");
  const id = externalId?.startsWith(prefix) === true ? externalId.slice(prefix.length) : (externalId ?? "");
  return /^[0-9]{1,20}$/.test(id) ? id : undefined;
}
