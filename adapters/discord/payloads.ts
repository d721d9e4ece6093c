import Type from "typebox";
import type { Static } from "typebox";
import { Value } from "typebox/value";

// The fields that are read from the gateway's packets. Discord adds fields over time, so others are permitted.

const snowflake = Type.String({ pattern: "^[0-9]{1,20}$" });

const user = Type.Object({
  id: snowflake,
  username: Type.Optional(Type.String()),
  global_name: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  bot: Type.Optional(Type.Boolean()),
});

const attachment = Type.Object({
  id: snowflake,
  filename: Type.String(),
  content_type: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  size: Type.Optional(Type.Integer()),
  url: Type.Optional(Type.String()),
});

const stickers = Type.Array(Type.Object({ name: Type.String() }));

export const messageSchema = Type.Object({
  id: snowflake,
  channel_id: snowflake,
  guild_id: Type.Optional(snowflake),
  type: Type.Integer(),
  content: Type.String(),
  author: user,
  webhook_id: Type.Optional(snowflake),
  timestamp: Type.String(),
  edited_timestamp: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  mentions: Type.Optional(Type.Array(user)),
  attachments: Type.Optional(Type.Array(attachment)),
  sticker_items: Type.Optional(stickers),
  // Parsed separately: an unknown form of these must not drop the message.
  message_reference: Type.Optional(Type.Unknown()),
  referenced_message: Type.Optional(Type.Unknown()),
  message_snapshots: Type.Optional(Type.Unknown()),
  poll: Type.Optional(Type.Unknown()),
});
export type DiscordMessage = Static<typeof messageSchema>;

const snapshotSchema = Type.Object({
  message: Type.Object({
    content: Type.Optional(Type.String()),
    attachments: Type.Optional(Type.Array(attachment)),
    sticker_items: Type.Optional(stickers),
  }),
});
export type Forwarded = Static<typeof snapshotSchema>["message"];

/** The forwarded messages in a message. Discord gives their content without their author. */
export function forwardedIn({
  message_snapshots: snapshots,
}: {
  readonly message_snapshots?: unknown;
}): readonly Forwarded[] {
  if (!Array.isArray(snapshots)) return [];
  return snapshots.flatMap((each) => (Value.Check(snapshotSchema, each) ? [each.message] : []));
}

const referenceSchema = Type.Object({ channel_id: snowflake, message_id: snowflake });
const answeredSchema = Type.Object({ content: Type.String() });
const replyType = 19;

/** The message that this one answers. A forward has a reference too, and is no answer. */
export function answeredIn({
  type,
  message_reference: reference,
  referenced_message: answered,
}: DiscordMessage): { readonly channelId: string; readonly id: string; readonly text: string } | undefined {
  if (type !== replyType || !Value.Check(referenceSchema, reference)) return undefined;
  const text = Value.Check(answeredSchema, answered) ? answered.content : "";
  return { channelId: reference.channel_id, id: reference.message_id, text };
}

const pollSchema = Type.Object({ question: Type.Object({ text: Type.String() }) });

export function pollIn({ poll }: DiscordMessage): string | undefined {
  return Value.Check(pollSchema, poll) ? poll.question.text : undefined;
}

export const deleteSchema = Type.Object({
  id: snowflake,
  channel_id: snowflake,
  guild_id: Type.Optional(snowflake),
});

export const bulkDeleteSchema = Type.Object({
  ids: Type.Array(snowflake, { maxItems: 1_000 }),
  channel_id: snowflake,
  guild_id: Type.Optional(snowflake),
});

/** `member` is set on servers, and when a reaction is added only. */
export const reactionSchema = Type.Object({
  user_id: snowflake,
  channel_id: snowflake,
  message_id: snowflake,
  guild_id: Type.Optional(snowflake),
  member: Type.Optional(Type.Object({ user: Type.Optional(user) })),
  /** `id`: of a server's own emoji. */
  emoji: Type.Object({
    id: Type.Optional(Type.Union([snowflake, Type.Null()])),
    name: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  }),
});
export type DiscordReaction = Static<typeof reactionSchema>;

/** A press of a button: `member` is set on servers, `user` in direct messages. */
export const pressSchema = Type.Object({
  id: snowflake,
  token: Type.String({ maxLength: 2_000 }),
  type: Type.Literal(3),
  channel_id: snowflake,
  guild_id: Type.Optional(snowflake),
  user: Type.Optional(user),
  member: Type.Optional(Type.Object({ user })),
  message: Type.Object({
    id: snowflake,
    message_reference: Type.Optional(Type.Object({ message_id: Type.Optional(snowflake) })),
    // Checked where they are read: an unknown form of these must not drop the press.
    components: Type.Optional(Type.Unknown()),
  }),
  data: Type.Object({ custom_id: Type.String() }),
});
export type DiscordPress = Static<typeof pressSchema>;

/** Start of 2015, the epoch of Discord's ids. */
const epochMs = 1_420_070_400_000n;

/** The creation time in an id, epoch milliseconds. */
export function madeAt(id: string): number {
  return Number((BigInt(id) >> 22n) + epochMs);
}

/** Sorts by creation time. */
export function byAge(a: { readonly id: string }, b: { readonly id: string }): number {
  const [one, other] = [BigInt(a.id), BigInt(b.id)];
  return one < other ? -1 : one > other ? 1 : 0;
}
