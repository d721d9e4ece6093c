import Type from "typebox";
import type { Static } from "typebox";
import type { Account } from "../shared/client.ts";
import { accountOf, accountSid, authToken, baseUrl } from "../shared/account.ts";

export const config = Type.Object(
  {
    provider: Type.Optional(
      Type.Literal("twilio", {
        title: "Provider",
        description: "The company that carries the messages. Default: twilio.",
      }),
    ),
    account_sid: accountSid,
    auth_token: authToken,
    from: Type.Optional(
      Type.String({
        pattern: "^(\\+[1-9][0-9]{6,14}|[0-9]{3,8})$",
        title: "Number",
        description: "The number that customers write to, such as +15551234567, or a short code.",
      }),
    ),
    messaging_service_sid: Type.Optional(
      Type.String({
        pattern: "^MG[0-9a-fA-F]{32}$",
        title: "Messaging service SID",
        description: "A messaging service that has the numbers, instead of a number.",
      }),
    ),
    template_sid: Type.Optional(
      Type.String({
        pattern: "^HX[0-9a-fA-F]{32}$",
        title: "Template SID",
        advanced: true,
        description:
          "WhatsApp only: the content template that is sent when the customer has not written for 24 hours. Default: none, and such a message is not delivered.",
      }),
    ),
    template_variables: Type.Optional(
      Type.Record(Type.String({ pattern: "^[A-Za-z0-9_]{1,16}$" }), Type.String({ maxLength: 200 }), {
        title: "Template variables",
        advanced: true,
        description:
          "The template's variables by name; {text} in a value is the message. One of them has to hold {text}. Default: variable 1 is the message.",
      }),
    ),
    quick_reply_sid: Type.Optional(
      Type.String({
        pattern: "^HX[0-9a-fA-F]{32}$",
        title: "Quick-reply template SID",
        advanced: true,
        description:
          "WhatsApp only: a content template with quick-reply buttons, for the bot's answers. Default: none, and answers have no buttons.",
      }),
    ),
    quick_reply_variables: Type.Optional(
      Type.Record(Type.String({ pattern: "^[A-Za-z0-9_]{1,16}$" }), Type.String({ maxLength: 200 }), {
        title: "Quick-reply variables",
        advanced: true,
        description:
          "Its variables by name, as in `template_variables`; {text} is the last line of the answer. Default: variable 1.",
      }),
    ),
    mms: Type.Optional(
      Type.Boolean({
        title: "Files by MMS",
        advanced: true,
        description:
          "SMS only: whether files go within a message, which carriers of the United States and Canada take. Default: yes for a number of these countries; elsewhere files go as a link.",
      }),
    ),
    bot_messages_per_hour: Type.Optional(
      Type.Integer({
        minimum: 5,
        maximum: 500,
        title: "Bot answers an hour",
        advanced: true,
        description:
          "The messages of one customer that the bot answers within an hour. Further ones go to people, because another program may be writing. Default: 30.",
      }),
    ),
    base_url: baseUrl,
  },
  { additionalProperties: false },
);

export type TwilioConfig = Static<typeof config>;

export type TwilioChannel = "sms" | "whatsapp";

export interface Template {
  readonly sid: string;
  readonly variables: Readonly<Record<string, string>>;
}

export interface Settings extends Account {
  readonly channel: TwilioChannel;
  readonly sender:
    | { readonly kind: "number"; readonly number: string }
    | { readonly kind: "service"; readonly sid: string };
  readonly template: Template | undefined;
  /** A template with buttons, used only while the reply window is open. */
  readonly quickReply: Template | undefined;
  /** Files are sent as MMS instead of as links. */
  readonly mms: boolean;
  readonly botMessagesPerHour: number;
}

/** Throws an Error that names the fix when settings contradict each other. */
export function settingsOf(channel: TwilioChannel, given: TwilioConfig): Settings {
  const { from, messaging_service_sid: service } = given;
  if ((from === undefined) === (service === undefined)) {
    throw new Error("set either `from`, the number that customers write to, or `messaging_service_sid`");
  }
  if (channel !== "sms" && given.mms !== undefined) throw new Error("`mms` is for accounts of the channel sms");
  const template = templateOf(channel, "template", given.template_sid, given.template_variables);
  const quickReply = templateOf(channel, "quick_reply", given.quick_reply_sid, given.quick_reply_variables);
  return {
    channel,
    ...accountOf(given),
    sender: from === undefined ? { kind: "service", sid: service ?? "" } : { kind: "number", number: from },
    template,
    quickReply,
    botMessagesPerHour: given.bot_messages_per_hour ?? 30,
    // Twilio's API does not show which other numbers can send MMS.
    mms: given.mms ?? /^\+1[0-9]{10}$/.test(from ?? ""),
  };
}

function templateOf(
  channel: TwilioChannel,
  name: "template" | "quick_reply",
  sid: string | undefined,
  variables: Template["variables"] | undefined,
): Template | undefined {
  if (channel !== "whatsapp" && (sid !== undefined || variables !== undefined)) {
    throw new Error(`\`${name}_sid\` and \`${name}_variables\` are for accounts of the channel whatsapp`);
  }
  if (sid === undefined) {
    if (variables !== undefined) throw new Error(`\`${name}_variables\` needs \`${name}_sid\``);
    return undefined;
  }
  if (variables !== undefined && !Object.values(variables).some((value) => value.includes("{text}"))) {
    throw new Error(`one of \`${name}_variables\` has to hold {text}: without it the message would not arrive`);
  }
  return { sid, variables: variables ?? { "1": "{text}" } };
}

const prefix = "whatsapp:";

/** Adds Twilio's prefix of the channel, such as `whatsapp:`. */
export const addressOf = (channel: TwilioChannel, name: string): string =>
  channel === "whatsapp" ? `${prefix}${name}` : name;

/** Removes the channel's prefix; undefined for an address of another channel. The rest need not be a number. */
export function nameOf(channel: TwilioChannel, address: string): string | undefined {
  const isWhatsapp = address.startsWith(prefix);
  if (isWhatsapp !== (channel === "whatsapp")) return undefined;
  const name = isWhatsapp ? address.slice(prefix.length) : address;
  return name === "" || name.length > 150 ? undefined : name;
}

/** False for short codes and alphanumeric senders, which do not belong to one person. */
export const isTelephoneNumber = (name: string): boolean => /^\+[1-9][0-9]{6,14}$/.test(name);
