import type { Update } from "grammy/types";
import Type from "typebox";
import type { Static } from "typebox";

// The fields that are read from an update. Telegram adds fields and kinds over time, so others are permitted.

/** The kinds of updates that are requested from Telegram. */
export const updateKinds = [
  "message",
  "edited_message",
  "my_chat_member",
  "callback_query",
  "message_reaction",
  "business_connection",
  "business_message",
  "edited_business_message",
] as const;

/** The Bot API's other kinds of updates, with the reason to ignore each. */
export const ignoredKinds = {
  channel_post: "a channel's own posts have no customer",
  edited_channel_post: "a channel's own posts have no customer",
  deleted_business_messages: "Telegram does not say whether the customer or the account's owner has deleted them",
  guest_message: "a chat that the bot is not in cannot be answered for long",
  message_reaction_count: "anonymous reactions have no customer",
  inline_query: "the bot offers nothing inline",
  chosen_inline_result: "the bot offers nothing inline",
  shipping_query: "the bot sells nothing",
  pre_checkout_query: "the bot sells nothing",
  purchased_paid_media: "the bot sells nothing",
  poll: "the bot sends no polls",
  poll_answer: "the bot sends no polls",
  chat_member: "who else comes and goes in a group is not the bot's business",
  chat_join_request: "the bot lets nobody in",
  chat_boost: "boosts are not the bot's business",
  removed_chat_boost: "boosts are not the bot's business",
  managed_bot: "the bot manages no other bots",
  stopped_message_generation: "the bot sends no drafts that could be stopped",
  subscription: "the bot sells nothing",
} as const satisfies Readonly<Record<Exclude<keyof Update, "update_id" | (typeof updateKinds)[number]>, string>>;

/** Ids have up to 52 bits. */
const id = Type.Integer();

const connectionId = Type.String({ minLength: 1, maxLength: 150 });

const user = Type.Object({
  id,
  is_bot: Type.Optional(Type.Boolean()),
  first_name: Type.Optional(Type.String()),
  last_name: Type.Optional(Type.String()),
  username: Type.Optional(Type.String()),
  language_code: Type.Optional(Type.String()),
});

const chat = Type.Object({
  id,
  type: Type.String(),
  title: Type.Optional(Type.String()),
  is_direct_messages: Type.Optional(Type.Boolean()),
});

const file = Type.Object({
  file_id: Type.String(),
  file_unique_id: Type.Optional(Type.String()),
  file_name: Type.Optional(Type.String()),
  mime_type: Type.Optional(Type.String()),
  file_size: Type.Optional(Type.Number()),
  duration: Type.Optional(Type.Number()),
  emoji: Type.Optional(Type.String()),
});

const entity = Type.Object({
  type: Type.String(),
  offset: Type.Integer(),
  length: Type.Integer(),
  /** Set for mentions of users without a username. */
  user: Type.Optional(Type.Object({ id })),
});

const message = Type.Object({
  message_id: id,
  message_thread_id: Type.Optional(id),
  is_topic_message: Type.Optional(Type.Boolean()),
  from: Type.Optional(user),
  sender_chat: Type.Optional(chat),
  chat,
  /** Unix seconds. */
  date: Type.Number(),
  edit_date: Type.Optional(Type.Number()),
  via_bot: Type.Optional(user),
  is_automatic_forward: Type.Optional(Type.Boolean()),
  business_connection_id: Type.Optional(connectionId),
  /** The bot that wrote a message of a business account. */
  sender_business_bot: Type.Optional(user),
  /** A scheduled message, or a business account's automatic greeting or absence message. */
  is_from_offline: Type.Optional(Type.Boolean()),
  /** The first author of a forwarded message: a person, a person who hides their account, a group or a channel. */
  forward_origin: Type.Optional(
    Type.Object({
      sender_user: Type.Optional(user),
      sender_user_name: Type.Optional(Type.String()),
      sender_chat: Type.Optional(chat),
      chat: Type.Optional(chat),
    }),
  ),
  media_group_id: Type.Optional(Type.String()),
  reply_to_message: Type.Optional(
    Type.Object({
      message_id: id,
      from: Type.Optional(user),
      text: Type.Optional(Type.String()),
      caption: Type.Optional(Type.String()),
    }),
  ),
  /** The part of the answered message that the customer has chosen. */
  quote: Type.Optional(Type.Object({ text: Type.String() })),
  text: Type.Optional(Type.String()),
  entities: Type.Optional(Type.Array(entity)),
  caption: Type.Optional(Type.String()),
  caption_entities: Type.Optional(Type.Array(entity)),
  photo: Type.Optional(Type.Array(file)),
  animation: Type.Optional(file),
  audio: Type.Optional(file),
  document: Type.Optional(file),
  sticker: Type.Optional(file),
  video: Type.Optional(file),
  video_note: Type.Optional(file),
  voice: Type.Optional(file),
  contact: Type.Optional(
    Type.Object({
      phone_number: Type.String(),
      first_name: Type.Optional(Type.String()),
      last_name: Type.Optional(Type.String()),
      user_id: Type.Optional(id),
    }),
  ),
  location: Type.Optional(Type.Object({ latitude: Type.Number(), longitude: Type.Number() })),
  venue: Type.Optional(Type.Object({ title: Type.String(), address: Type.String() })),
  poll: Type.Optional(Type.Object({ question: Type.String() })),
  dice: Type.Optional(Type.Object({ emoji: Type.String(), value: Type.Number() })),
  story: Type.Optional(Type.Object({})),
  checklist: Type.Optional(
    Type.Object({ title: Type.String(), tasks: Type.Array(Type.Object({ text: Type.String() })) }),
  ),
  game: Type.Optional(Type.Object({ title: Type.String() })),
  invoice: Type.Optional(Type.Object({ title: Type.String() })),
  paid_media: Type.Optional(Type.Object({})),
  giveaway: Type.Optional(Type.Object({})),
  rich_message: Type.Optional(Type.Object({ blocks: Type.Array(Type.Unknown()) })),
  migrate_to_chat_id: Type.Optional(id),
  migrate_from_chat_id: Type.Optional(id),
});

const membership = Type.Object({
  chat,
  from: user,
  date: Type.Number(),
  /** Only `restricted` members have these fields. */
  new_chat_member: Type.Object({
    status: Type.String(),
    is_member: Type.Optional(Type.Boolean()),
    can_send_messages: Type.Optional(Type.Boolean()),
  }),
});

/** A person's reactions to a message, before and after a change. `custom_emoji` and `paid` have no character. */
const reaction = Type.Object({
  chat,
  message_id: id,
  /** Absent where a chat reacts in its own name. */
  user: Type.Optional(user),
  date: Type.Number(),
  old_reaction: Type.Array(Type.Object({ type: Type.String(), emoji: Type.Optional(Type.String()) })),
  new_reaction: Type.Array(Type.Object({ type: Type.String(), emoji: Type.Optional(Type.String()) })),
});

/** A press of a button. */
const press = Type.Object({
  id: Type.String({ maxLength: 150 }),
  from: user,
  /** Absent below a message that was sent inline. Of an old message, Telegram may give only the chat and the id. */
  message: Type.Optional(
    Type.Object({
      message_id: id,
      message_thread_id: Type.Optional(id),
      is_topic_message: Type.Optional(Type.Boolean()),
      business_connection_id: Type.Optional(connectionId),
      chat,
    }),
  ),
  data: Type.Optional(Type.String()),
});

/** The bot's connection with a business account: new, changed or ended. */
const businessConnection = Type.Object({
  id: connectionId,
  user,
  /** Unix seconds. */
  date: Type.Number(),
  is_enabled: Type.Boolean(),
  rights: Type.Optional(Type.Object({ can_reply: Type.Optional(Type.Boolean()) })),
  /** In place of `rights`, from servers of the Bot API before 9.0. */
  can_reply: Type.Optional(Type.Boolean()),
});

export const updateSchema = Type.Object({
  update_id: id,
  message: Type.Optional(message),
  edited_message: Type.Optional(message),
  my_chat_member: Type.Optional(membership),
  callback_query: Type.Optional(press),
  message_reaction: Type.Optional(reaction),
  business_connection: Type.Optional(businessConnection),
  business_message: Type.Optional(message),
  edited_business_message: Type.Optional(message),
});

export type TelegramUpdate = Static<typeof updateSchema>;
export type TelegramMessage = Static<typeof message>;
export type TelegramPress = Static<typeof press>;
export type TelegramReaction = Static<typeof reaction>;
export type TelegramConnection = Static<typeof businessConnection>;
export type TelegramFile = Static<typeof file>;
