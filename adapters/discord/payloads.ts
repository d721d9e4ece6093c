import Type from "typebox";
import type { Static } from "typebox";
import { Value } from "typebox/value";

// What is read of the gateway's packets. They hold far more, and grow: what is not named here is let through.

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
  // What is strange in these is no reason to pass over what was written.
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

/** Messages of somewhere else that were passed on with one: Discord tells what stood in them, and not who has written it. */
export function forwardedIn({
  message_snapshots: snapshots,
}: {
  readonly message_snapshots?: unknown;
}): readonly Forwarded[] {
  if (!Array.isArray(snapshots)) return [];
  return snapshots.flatMap((each) => (Value.Check(snapshotSchema, each) ? [each.message] : []));
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

/** Somebody has pressed a button of ours: on a server it is a member, and else a user. */
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
  }),
  data: Type.Object({ custom_id: Type.String() }),
});
export type DiscordPress = Static<typeof pressSchema>;

/** Beginning of 2015, from which the ids of Discord count milliseconds. */
const epochMs = 1_420_070_400_000n;

/** When what has this id was made, epoch milliseconds. */
export function madeAt(id: string): number {
  return Number((BigInt(id) >> 22n) + epochMs);
}

/** Ids in the order that they were made in. */
export function byAge(a: { readonly id: string }, b: { readonly id: string }): number {
  const [one, other] = [BigInt(a.id), BigInt(b.id)];
  return one < other ? -1 : one > other ? 1 : 0;
}
