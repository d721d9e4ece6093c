import Type from "typebox";
import type { Static, TProperties } from "typebox";
import { Compile } from "typebox/compile";

// The fields that are read from a delivery. Meta adds fields and kinds over time, so others are permitted.

const some = <Fields extends TProperties>(fields: Fields) => Type.Optional(Type.Object(fields));
const text = Type.Optional(Type.String());
const things = Type.Optional(Type.Array(Type.Unknown()));
/** Longer ids could not be stored. */
const messageId = Type.String({ minLength: 1, maxLength: 170 });
const address = Type.Optional(Type.String({ minLength: 1, maxLength: 150 }));

const envelope = Type.Object({ entry: Type.Array(Type.Unknown()) });
const entry = Type.Object({ changes: Type.Array(Type.Unknown()) });
const change = Type.Object({
  field: Type.Literal("messages"),
  value: Type.Object({
    metadata: Type.Object({ phone_number_id: Type.String() }),
    contacts: things,
    messages: things,
    statuses: things,
    errors: things,
  }),
});

const contact = Type.Object({
  wa_id: text,
  user_id: text,
  profile: some({ name: text, username: text }),
});

const error = Type.Object({
  code: Type.Optional(Type.Integer()),
  title: text,
  message: text,
  error_data: some({ details: text }),
});

const media = some({
  id: Type.String({ minLength: 1, maxLength: 4_000 }),
  mime_type: text,
  sha256: Type.Optional(Type.String({ maxLength: 190 })),
  filename: text,
  caption: text,
  voice: Type.Optional(Type.Boolean()),
});

/** The content of a message, by its type. */
const content = {
  text: some({ body: Type.String() }),
  image: media,
  video: media,
  audio: media,
  voice: media,
  document: media,
  sticker: media,
  location: some({ latitude: Type.Number(), longitude: Type.Number(), name: text, address: text }),
  contacts: Type.Optional(
    Type.Array(
      Type.Object({
        name: some({ formatted_name: text, first_name: text }),
        phones: Type.Optional(Type.Array(Type.Object({ phone: text, wa_id: text }))),
        emails: Type.Optional(Type.Array(Type.Object({ email: text }))),
      }),
    ),
  ),
  button: some({ text, payload: text }),
  interactive: some({
    button_reply: some({ id: Type.String(), title: Type.String() }),
    list_reply: some({ id: Type.String(), title: Type.String() }),
    nfm_reply: some({ body: text, response_json: text }),
  }),
  order: some({
    text,
    product_items: Type.Array(
      Type.Object({
        product_retailer_id: text,
        quantity: Type.Optional(Type.Number()),
        item_price: Type.Optional(Type.Number()),
        currency: text,
      }),
    ),
  }),
};

/** The fields of any message, whatever its content. */
const common = {
  id: messageId,
  from: address,
  from_user_id: address,
  type: Type.String(),
  timestamp: Type.Optional(Type.Unknown()),
  group_id: Type.Optional(Type.Unknown()),
};

const message = Type.Object({
  ...common,
  ...content,
  context: some({
    id: Type.Optional(messageId),
    forwarded: Type.Optional(Type.Boolean()),
    frequently_forwarded: Type.Optional(Type.Boolean()),
  }),
  referral: some({ source_url: text, source_id: text, source_type: text, headline: text, body: text }),
  reaction: some({ message_id: messageId, emoji: text }),
  edit: some({
    original_message_id: messageId,
    message: Type.Object(content),
  }),
  revoke: some({ original_message_id: messageId }),
  system: some({
    type: text,
    wa_id: address,
    new_wa_id: address,
    user_id: address,
    previous_user_id: address,
  }),
  errors: Type.Optional(Type.Array(error)),
});

const status = Type.Object({
  id: messageId,
  status: Type.String(),
  timestamp: Type.Optional(Type.Unknown()),
  biz_opaque_callback_data: text,
  errors: Type.Optional(Type.Array(error)),
});

export type Change = Static<typeof change>["value"];
export type Contact = Static<typeof contact>;
export type Message = Static<typeof message>;
export type Content = Pick<Message, keyof typeof content>;
export type Media = NonNullable<Static<typeof media>>;
export type Status = Static<typeof status>;
export type ErrorItem = Static<typeof error>;
/** A message whose content has an unknown form. */
export type UnreadMessage = Static<typeof unread>;
const unread = Type.Object({ ...common, errors: Type.Optional(Type.Unknown()) });

const schemas = {
  envelope: Compile(envelope),
  entry: Compile(entry),
  change: Compile(change),
  contact: Compile(contact),
  message: Compile(message),
  unread: Compile(unread),
  status: Compile(status),
  error: Compile(error),
};

/** The changes of messages in a delivery; undefined: it is none of WhatsApp's. */
export function changesIn(delivery: unknown): readonly Change[] | undefined {
  if (!schemas.envelope.Check(delivery)) return undefined;
  return delivery.entry.flatMap((each) =>
    schemas.entry.Check(each) ? each.changes.flatMap((item) => (schemas.change.Check(item) ? [item.value] : [])) : [],
  );
}

export const readMessage = (value: unknown): Message | undefined => (schemas.message.Check(value) ? value : undefined);
export const readUnread = (value: unknown): UnreadMessage | undefined =>
  schemas.unread.Check(value) ? value : undefined;
export const readStatus = (value: unknown): Status | undefined => (schemas.status.Check(value) ? value : undefined);
export const readContact = (value: unknown): Contact | undefined => (schemas.contact.Check(value) ? value : undefined);
export const readError = (value: unknown): ErrorItem | undefined => (schemas.error.Check(value) ? value : undefined);
