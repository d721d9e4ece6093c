import Type from "typebox";
import type { Static } from "typebox";

const id = (title: string, description: string) => Type.String({ pattern: "^[0-9]{5,30}$", title, description });

export const config = Type.Object(
  {
    provider: Type.Literal("meta", {
      title: "Provider",
      description: "The company that carries the messages: meta, for the Cloud API.",
    }),
    phone_number_id: id(
      "Phone number ID",
      "From the app's page WhatsApp, API Setup, below the number. Not the number.",
    ),
    access_token: Type.String({
      pattern: "^\\S{16,1000}$",
      title: "Access token",
      description:
        "The token of a system user with the permissions whatsapp_business_messaging and whatsapp_business_management.",
    }),
    app_secret: Type.String({
      pattern: "^\\S{16,200}$",
      title: "App secret",
      description: "From the app's page App settings, Basic. Meta signs its deliveries with it.",
    }),
    business_account_id: Type.Optional(
      id(
        "WhatsApp Business account ID",
        "From the app's page WhatsApp, API Setup. Parley then subscribes the app to the account. Default: none.",
      ),
    ),
    pin: Type.Optional(
      Type.String({
        pattern: "^[0-9]{6}$",
        title: "PIN of the number",
        description:
          "The six digits of the two-step verification, with which Parley registers a number that is not connected. Default: none.",
      }),
    ),
    person_button: Type.Optional(
      Type.String({
        pattern: "^\\S(.*\\S)?$",
        maxLength: 20,
        title: "Button for a person",
        description: "The label of a button below the bot's answers that asks for a person. Default: no button.",
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
    template_name: Type.Optional(
      Type.String({
        pattern: "^[a-z0-9_]{1,512}$",
        title: "Template name",
        advanced: true,
        description:
          "The approved template that is sent when the customer has not written for 24 hours. Default: none, and such a message is not delivered.",
      }),
    ),
    template_language: Type.Optional(
      Type.String({
        pattern: "^[a-z]{2,3}(_[A-Za-z]{2,4})?$",
        title: "Template language",
        advanced: true,
        description: "The language code of the template, such as en_US. Default: en.",
      }),
    ),
    template_variables: Type.Optional(
      Type.Record(Type.String({ pattern: "^[A-Za-z0-9_]{1,32}$" }), Type.String({ maxLength: 200 }), {
        title: "Template variables",
        advanced: true,
        description:
          "The variables of the template's body by name or number; {text} in a value is the message. One of them has to hold {text}. Default: variable 1 is the message.",
      }),
    ),
    api_version: Type.Optional(
      Type.String({
        pattern: "^v[0-9]{1,3}\\.[0-9]$",
        title: "Version of the API",
        advanced: true,
        description: "Default: v23.0.",
      }),
    ),
    base_url: Type.Optional(
      Type.String({
        pattern: "^https?://[^\\s]*[^/\\s]$",
        title: "Server of the API",
        advanced: true,
        description:
          "The address of another server of the API, without a slash at the end. Default: https://graph.facebook.com.",
      }),
    ),
  },
  { additionalProperties: false },
);

export type WhatsappConfig = Static<typeof config>;

export interface Template {
  readonly name: string;
  readonly language: string;
  readonly variables: Readonly<Record<string, string>>;
}

export interface Settings {
  readonly phoneNumberId: string;
  readonly accessToken: string;
  readonly appSecret: string;
  readonly businessAccountId: string | undefined;
  readonly pin: string | undefined;
  readonly personButton: string | undefined;
  readonly botMessagesPerHour: number;
  readonly template: Template | undefined;
  /** The address of the API with its version. */
  readonly apiUrl: string;
  /** `base_url` is set: the server may be in one's own network. */
  readonly ownServer: string | undefined;
}

/** Throws an Error that names the fix when settings contradict each other. */
export function settingsOf(given: WhatsappConfig): Settings {
  const { base_url: ownServer, api_version: version = "v23.0", person_button: personButton } = given;
  if (personButton !== undefined && !/\p{L}/u.test(personButton)) {
    throw new Error("`person_button` has to hold a word: Meta takes no two buttons with the same label");
  }
  return {
    phoneNumberId: given.phone_number_id,
    accessToken: given.access_token,
    appSecret: given.app_secret,
    businessAccountId: given.business_account_id,
    pin: given.pin,
    personButton,
    botMessagesPerHour: given.bot_messages_per_hour ?? 30,
    template: templateOf(given),
    apiUrl: `${ownServer ?? "https://graph.facebook.com"}/${version}`,
    ownServer,
  };
}

function templateOf({
  template_name: name,
  template_language: language,
  template_variables: variables,
}: WhatsappConfig): Template | undefined {
  if (name === undefined) {
    if (language === undefined && variables === undefined) return undefined;
    throw new Error("`template_language` and `template_variables` need `template_name`");
  }
  if (variables !== undefined && !Object.values(variables).some((value) => value.includes("{text}"))) {
    throw new Error("one of `template_variables` has to hold {text}: without it the message would not arrive");
  }
  return { name, language: language ?? "en", variables: variables ?? { "1": "{text}" } };
}

/**
 * The thread of a customer: their number with "+", as with other providers of WhatsApp, or the id of one who does not show
 * their number.
 */
export const threadOf = (address: string): string => (/^[1-9][0-9]{6,14}$/.test(address) ? `+${address}` : address);

export const isTelephoneNumber = (thread: string): boolean => /^\+[1-9][0-9]{6,14}$/.test(thread);
