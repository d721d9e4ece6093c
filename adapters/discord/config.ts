import Type from "typebox";
import type { Static } from "typebox";

export const config = Type.Object(
  {
    token: Type.String({
      pattern: "^[A-Za-z0-9_-]{10,200}\\.[A-Za-z0-9_-]{1,50}\\.[A-Za-z0-9_-]{10,200}$",
      title: "Bot token",
      description: "The bot's token, from the page Bot of the developer portal.",
    }),
    guilds: Type.Optional(
      Type.Enum(["off", "threads"], {
        title: "Messages on servers",
        description:
          "threads: the bot answers mentions on a server in a thread, which needs the Message Content intent. off: direct messages only. Default: off.",
      }),
    ),
    base_url: Type.Optional(
      Type.String({
        pattern: "^https?://[^\\s]*[^/\\s]$",
        title: "Server of the API",
        advanced: true,
        description:
          "The address of another server of the API, without a slash at the end. Default: https://discord.com/api.",
      }),
    ),
    person_button: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 80,
        title: "Button for a person",
        description:
          "The text of a button below the bot's answers, by which customers ask for a person. Default: no button.",
      }),
    ),
    gateway_url: Type.Optional(
      Type.String({
        pattern: "^wss?://\\S+$",
        title: "Gateway",
        advanced: true,
        description: "The address of another gateway. Default: the one that the API names.",
      }),
    ),
  },
  { additionalProperties: false },
);

export type DiscordConfig = Static<typeof config>;
