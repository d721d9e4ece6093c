import Type from "typebox";
import type { Static } from "typebox";

export const config = Type.Object(
  {
    token: Type.String({
      pattern: "^[0-9]{3,20}:[A-Za-z0-9_-]{10,100}$",
      title: "Bot token",
      description: "The bot's token, from @BotFather.",
    }),
    transport: Type.Optional(
      Type.Enum(["webhook", "polling"], {
        title: "Deliveries",
        advanced: true,
        description:
          "webhook: Telegram delivers to PUBLIC_URL. polling: Parley asks Telegram, which needs no public address. Default: webhook where PUBLIC_URL begins with https.",
      }),
    ),
    groups: Type.Optional(
      Type.Enum(["addressed", "all", "off"], {
        title: "Messages in groups",
        description:
          "addressed: messages that address the bot. all: every message that Telegram shows it. off: none. Default: addressed.",
      }),
    ),
    business_owners: Type.Optional(
      Type.String({
        pattern: "^[0-9]{1,16}(, *[0-9]{1,16})*$",
        maxLength: 500,
        title: "Accounts that may connect the bot",
        advanced: true,
        description:
          "The numbers of the people whose Telegram Business accounts the bot answers for, with commas between them. Connect the bot in such an account, then check this one: it names the number. Default: nobody's.",
      }),
    ),
    base_url: Type.Optional(
      Type.String({
        pattern: "^https?://[^\\s]*[^/\\s]$",
        title: "Server of the Bot API",
        advanced: true,
        description:
          "The address of another server of the API, without a slash at the end. Default: https://api.telegram.org.",
      }),
    ),
  },
  { additionalProperties: false },
);

export type TelegramConfig = Static<typeof config>;
