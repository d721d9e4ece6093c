import type { Shown } from "./fake-telegram.ts";

/** The parts of an update that a test sets; the rest has defaults. */
export interface Written {
  readonly chatId: number;
  readonly messageId: number;
  readonly text?: string;
  readonly from?: Readonly<Record<string, unknown>>;
  readonly chat?: Readonly<Record<string, unknown>>;
  readonly more?: Readonly<Record<string, unknown>>;
}

let nextUpdate = 100_000;

export const updateId = (): number => (nextUpdate += 1);

function messageOf({ chatId, messageId, text, from = {}, chat = {}, more = {} }: Written) {
  return {
    message_id: messageId,
    from: { id: chatId, is_bot: false, first_name: "Ada", last_name: "L.", language_code: "en", ...from },
    chat: { id: chatId, type: "private", first_name: "Ada", ...chat },
    date: 1_934_000_000,
    ...(text === undefined ? {} : { text }),
    ...more,
  };
}

export const messageUpdate = (written: Written) => ({ update_id: updateId(), message: messageOf(written) });

export const editUpdate = (written: Written) => ({
  update_id: updateId(),
  edited_message: { ...messageOf(written), edit_date: 1_934_000_100 },
});

/** A message in a chat of a business account. `from`: the customer by default. */
export const businessUpdate = (connection: string, { more = {}, ...written }: Written) => ({
  update_id: updateId(),
  business_message: messageOf({ ...written, more: { ...more, business_connection_id: connection } }),
});

export const businessEditUpdate = (connection: string, { more = {}, ...written }: Written) => ({
  update_id: updateId(),
  edited_business_message: {
    ...messageOf({ ...written, more: { ...more, business_connection_id: connection } }),
    edit_date: 1_934_000_100,
  },
});

export const businessDeletionUpdate = (connection: string, chatId: number, messageIds: readonly number[]) => ({
  update_id: updateId(),
  deleted_business_messages: {
    business_connection_id: connection,
    chat: { id: chatId, type: "private", first_name: "Ada" },
    message_ids: messageIds,
  },
});

export const connectionUpdate = (connection: object) => ({
  update_id: updateId(),
  business_connection: connection,
});

/** A press of a button of one of the bot's messages. */
export const pressUpdate = (
  at: Shown,
  data: string | undefined,
  given: { readonly from?: number; readonly id?: string; readonly connection?: string } = {},
) => {
  const { from = at.chatId, id = String(updateId()), connection } = given;
  const business = connection === undefined ? {} : { business_connection_id: connection };
  const topic = at.topicId === undefined ? {} : { is_topic_message: true, message_thread_id: at.topicId };
  const type = at.chatId > 0 ? "private" : "supergroup";
  return {
    update_id: updateId(),
    callback_query: {
      id,
      from: { id: from, is_bot: false, first_name: "Ada" },
      message: { message_id: at.messageId, date: 0, ...topic, ...business, chat: { id: at.chatId, type } },
      chat_instance: "1",
      data,
    },
  };
};

/** A person's reactions to a message, before and after. */
export const reactionUpdate = (
  at: { readonly chatId: number; readonly messageId: number; readonly from?: number },
  before: readonly string[],
  after: readonly string[],
) => {
  const listed = (all: readonly string[]) =>
    all.map((emoji) =>
      /^\d+$/.test(emoji) ? { type: "custom_emoji", custom_emoji_id: emoji } : { type: "emoji", emoji },
    );
  const { chatId, messageId, from = chatId } = at;
  return {
    update_id: updateId(),
    message_reaction: {
      chat: { id: chatId, type: chatId > 0 ? "private" : "supergroup" },
      message_id: messageId,
      user: { id: from, is_bot: false, first_name: "Ada" },
      date: 1_934_000_200,
      old_reaction: listed(before),
      new_reaction: listed(after),
    },
  };
};
