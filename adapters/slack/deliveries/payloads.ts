import Type from "typebox";
import type { Static, TSchema } from "typebox";

// The fields that are read from Slack's payloads. Slack adds fields and kinds over time, so others are permitted. A field
// that is missing, null or empty means the same.

const maybe = <T extends TSchema>(schema: T) => Type.Optional(Type.Union([schema, Type.Null()]));
const text = maybe(Type.String());
const flag = maybe(Type.Boolean());

const file = Type.Object({
  id: text,
  name: text,
  title: text,
  mimetype: text,
  size: maybe(Type.Number()),
  mode: text,
  is_external: flag,
  external_url: text,
  file_access: text,
  user_team: text,
  url_private: text,
  url_private_download: text,
});

const edited = maybe(Type.Object({ ts: text, user: text }));

const message = Type.Object({
  type: text,
  subtype: text,
  user: text,
  team: text,
  user_team: text,
  bot_id: text,
  app_id: text,
  text,
  ts: text,
  thread_ts: text,
  hidden: flag,
  edited,
  files: maybe(Type.Array(file)),
  attachments: maybe(Type.Unknown()),
  blocks: maybe(Type.Array(Type.Unknown())),
  metadata: maybe(Type.Unknown()),
});

/** An event of any kind; a message's fields count only for messages. */
export const eventSchema = Type.Object({
  ...message.properties,
  type: Type.String(),
  channel: maybe(Type.Unknown()),
  channel_type: text,
  event_ts: text,
  deleted_ts: text,
  message: maybe(message),
  previous_message: maybe(message),
  reaction: text,
  /** The message of a reaction. */
  item: maybe(Type.Unknown()),
  assistant_thread: maybe(Type.Object({ channel_id: text, thread_ts: text })),
});

/** The body of a POST to the events' address, or of `events_api` on a socket. */
export const envelopeSchema = Type.Object({
  type: Type.Literal("event_callback"),
  team_id: text,
  enterprise_id: text,
  api_app_id: text,
  event_id: text,
  event_time: maybe(Type.Number()),
  is_ext_shared_channel: flag,
  authorizations: maybe(
    Type.Array(Type.Object({ team_id: text, enterprise_id: text, user_id: text, is_bot: flag }), { maxItems: 1_000 }),
  ),
  event: eventSchema,
});

/** `block_actions`, `view_submission`, `view_closed`, `message_action`, `shortcut`: each reader validates its own fields. */
export const interactionSchema = Type.Object({
  type: Type.String(),
  user: Type.Object({ id: Type.String(), team_id: text }),
  team: maybe(Type.Object({ id: text })),
  callback_id: text,
  trigger_id: text,
  response_url: text,
  channel: maybe(Type.Object({ id: text })),
  container: maybe(Type.Object({ channel_id: text, message_ts: text, thread_ts: text })),
  message: maybe(
    Type.Object({ ts: text, thread_ts: text, user: text, bot_id: text, text, blocks: maybe(Type.Unknown()) }),
  ),
  actions: maybe(
    Type.Array(
      Type.Object({
        action_id: text,
        block_id: text,
        type: text,
        value: text,
        action_ts: text,
        selected_option: maybe(Type.Object({ value: text })),
        selected_date_time: maybe(Type.Number()),
      }),
      { maxItems: 100 },
    ),
  ),
  view: maybe(
    Type.Object({
      id: text,
      callback_id: text,
      private_metadata: text,
      state: maybe(Type.Object({ values: Type.Optional(Type.Unknown()) })),
    }),
  ),
});

export const commandSchema = Type.Object({
  command: Type.String(),
  text,
  team_id: text,
  enterprise_id: text,
  channel_id: text,
  user_id: Type.String(),
  trigger_id: text,
  response_url: text,
});

export type SlackFile = Static<typeof file>;
export type SlackMessage = Static<typeof message>;
export type SlackEvent = Static<typeof eventSchema>;
export type EventEnvelope = Static<typeof envelopeSchema>;
export type Interaction = Static<typeof interactionSchema>;
export type SlashCommand = Static<typeof commandSchema>;

/** A field's text; undefined for an absent or empty one. */
export function filled(value: string | null | undefined): string | undefined {
  return value === null || value === "" ? undefined : value;
}

/** An event's channel id: some events have the id, others an object. */
export function channelIdOf(event: Pick<SlackEvent, "channel">): string | undefined {
  const { channel } = event;
  if (typeof channel === "string") return filled(channel);
  if (typeof channel !== "object" || channel === null || !("id" in channel)) return undefined;
  return typeof channel.id === "string" ? filled(channel.id) : undefined;
}
