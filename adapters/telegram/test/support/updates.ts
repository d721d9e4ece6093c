/** Updates as Telegram makes them, by what a test has to say of them. */
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
