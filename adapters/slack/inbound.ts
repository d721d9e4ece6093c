import type { EventEnvelope, SlackMessage } from "./deliveries/payloads.ts";
import { fieldsOf } from "./deliveries/deliveries.ts";
import { channelIdOf, filled } from "./deliveries/payloads.ts";
import { forwardedIn } from "./messages/forwarded.ts";
import { metadataType, threadOf } from "./messages/thread.ts";

/** A message's place and author. */
export interface MessageLocation {
  readonly channelId: string;
  /** In a direct conversation with the app. */
  readonly direct: boolean;
  readonly thread: string;
  readonly userId: string;
  /** The author's team, which may differ from ours in shared channels. */
  readonly teamId: string;
}

/** The meaning of an event. `reason` is for the log. */
export type Reading =
  | {
      readonly kind: "message";
      readonly place: MessageLocation;
      readonly ts: string;
      readonly message: SlackMessage;
      /** Slack reported a mention of the app. */
      readonly mentioned: boolean;
    }
  | {
      readonly kind: "edit";
      readonly place: MessageLocation;
      readonly ts: string;
      readonly editedTs: string;
      readonly message: SlackMessage;
    }
  | { readonly kind: "delete"; readonly place: MessageLocation; readonly ts: string; readonly deletedAt: string }
  | { readonly kind: "ignored"; readonly reason: string };

const ignored = (reason: string): Reading => ({ kind: "ignored", reason });

/** Subtypes of customers' messages; a plain message has none. */
const messageSubtypes = new Set(["file_share", "thread_broadcast", "me_message"]);

/** Reads an event. Pure. */
export function readEvent(envelope: EventEnvelope): Reading {
  const { event } = envelope;
  if (event.type === "app_mention") return readMessage(envelope, event, true);
  if (event.type !== "message") return ignored(`${event.type.slice(0, 80)} says nothing of a customer`);
  const subtype = filled(event.subtype);
  switch (subtype) {
    case "message_changed":
      return readChange(envelope);
    case "message_deleted":
      return event.previous_message
        ? readDeletion(envelope, event.previous_message, filled(event.deleted_ts))
        : ignored("it does not say what was deleted");
    default:
      return subtype === undefined || messageSubtypes.has(subtype)
        ? readMessage(envelope, event, false)
        : ignored(`a message of the kind ${subtype.slice(0, 80)} is not a customer's`);
  }
}

/** A reaction that a person added to a message, or removed. */
export interface Reaction {
  readonly channelId: string;
  readonly ts: string;
  readonly userId: string;
  readonly teamId: string;
  readonly name: string;
  readonly isAdded: boolean;
  readonly at: string;
}

/** Undefined for other events, and for reactions to other things than messages. Pure. */
export function readReaction({ event, team_id: team }: EventEnvelope): Reaction | undefined {
  if (event.type !== "reaction_added" && event.type !== "reaction_removed") return undefined;
  const { type, channel, ts } = fieldsOf(event.item);
  const [channelId, messageTs] = [channel, ts].map((each) => (typeof each === "string" ? each : undefined));
  const [userId, teamId, name, at] = [identifier(event.user), identifier(team), filled(event.reaction), event.event_ts];
  const found = { channelId: identifier(channelId), ts: timestamp(messageTs), userId, teamId, name, at: timestamp(at) };
  if (type !== "message" || !isComplete(found)) return undefined;
  return { ...found, isAdded: event.type === "reaction_added" };
}

const isComplete = <T extends object>(found: T): found is { [K in keyof T]: NonNullable<T[K]> } =>
  Object.values(found).every((each) => each !== undefined);

function readMessage(envelope: EventEnvelope, message: SlackMessage, mentioned: boolean): Reading {
  const place = placeOf(envelope, message);
  if (typeof place === "string") return ignored(place);
  const ts = timestamp(message.ts);
  if (ts === undefined) return ignored("it has no time stamp");
  const isEmpty = filled(message.text) === undefined && (message.files ?? []).length === 0;
  if (isEmpty && forwardedIn(message).length === 0) return ignored("there is nothing in it");
  return { kind: "message", place, ts, message, mentioned };
}

function readChange(envelope: EventEnvelope): Reading {
  const { message, previous_message: before } = envelope.event;
  if (!message) return ignored("it does not say what was changed");
  // Slack changes the first message of an assistant thread to show its title.
  if (message.subtype === "assistant_app_thread") return ignored("it is the title of an assistant thread");
  // Slack replaces a deleted message that has replies with a tombstone.
  if (message.subtype === "tombstone") return readDeletion(envelope, before ?? message, filled(message.ts));
  const editedTs = timestamp(message.edited?.ts);
  // Also sent for changes without an edit, such as unfurled addresses.
  if (editedTs === undefined || editedTs === before?.edited?.ts) return ignored("its text was not changed");
  const place = placeOf(envelope, message);
  if (typeof place === "string") return ignored(place);
  const ts = timestamp(message.ts);
  return ts === undefined ? ignored("it has no time stamp") : { kind: "edit", place, ts, editedTs, message };
}

function readDeletion(envelope: EventEnvelope, message: SlackMessage, deletedTs: string | undefined): Reading {
  const place = placeOf(envelope, message);
  if (typeof place === "string") return ignored(place);
  const ts = timestamp(deletedTs ?? message.ts);
  if (ts === undefined) return ignored("it has no time stamp");
  return { kind: "delete", place, ts, deletedAt: timestamp(envelope.event.event_ts) ?? ts };
}

/** A message's place and author; or the reason why its author is not a customer. */
function placeOf(envelope: EventEnvelope, message: SlackMessage): MessageLocation | string {
  const { event } = envelope;
  const channelId = identifier(channelIdOf(event));
  if (channelId === undefined) return "it has no channel";
  if (filled(message.bot_id) !== undefined || message.subtype === "bot_message") return "an app has written it";
  // Slack may deliver our posts without a bot_id.
  if (fieldsOf(message.metadata)["event_type"] === metadataType) return "Parley has written it";
  const userId = identifier(message.user);
  if (userId === undefined) return "nobody has written it";
  if (userId === "USLACKBOT") return "Slackbot has written it";
  if (ownUserOf(envelope) === userId) return "the app itself has written it";
  const teamId = identifier(
    filled(message.user_team) ?? filled(message.team) ?? filled(message.files?.[0]?.user_team) ?? envelope.team_id,
  );
  if (teamId === undefined) return "it has no team";
  const direct =
    event.channel_type === "im" ||
    event.channel_type === "app_home" ||
    (filled(event.channel_type) === undefined && channelId.startsWith("D"));
  const replyTo = timestamp(message.thread_ts);
  const own = timestamp(message.ts ?? event.deleted_ts);
  const threadTs = replyTo ?? (direct ? undefined : own);
  return { channelId, direct, thread: threadOf({ channelId, threadTs }), userId, teamId };
}

/** The app's own user id in the envelope. */
export function ownUserOf({ authorizations }: EventEnvelope): string | undefined {
  const own = authorizations?.find(({ is_bot: isBot }) => isBot === true);
  return filled(own?.user_id);
}

const identifierMax = 60;

function identifier(value: string | null | undefined): string | undefined {
  const given = filled(value);
  return given !== undefined && given.length <= identifierMax && /^[A-Za-z0-9]+$/.test(given) ? given : undefined;
}

/** Time stamps are ids, so their text is kept unchanged. */
function timestamp(value: string | null | undefined): string | undefined {
  const given = filled(value);
  return given !== undefined && /^\d{1,11}\.\d{1,9}$/.test(given) ? given : undefined;
}

/** Converts a time stamp to epoch milliseconds. */
export const timeOf = (ts: string): number => Math.floor(Number(ts) * 1_000);
