import Type from "typebox";
import type { Static } from "typebox";
import type { Account } from "../shared/client.ts";
import { accountOf, accountSid, authToken, baseUrl } from "../shared/account.ts";
import type { Settings } from "../messaging/config.ts";
import { settingsOf as smsSettingsOf } from "../messaging/config.ts";
import type { Texts } from "./texts.ts";
import { textNames, textsOf } from "./texts.ts";

const number = "^\\+[1-9][0-9]{6,14}$";

export const config = Type.Object(
  {
    account_sid: accountSid,
    auth_token: authToken,
    from: Type.String({ pattern: number, description: "The number that customers call, such as +15551234567." }),
    language: Type.Optional(
      Type.String({
        pattern: "^[a-z]{2,3}(-[A-Za-z0-9]{2,8}){0,2}$",
        description: "What callers speak and hear, such as en-GB or de-DE. Default: en-US.",
      }),
    ),
    voice: Type.Optional(
      Type.String({
        pattern: "^[A-Za-z0-9.-]{2,60}$",
        description: "Who speaks, as Twilio names it, such as Polly.Joanna. Default: Twilio's own for the language.",
      }),
    ),
    greeting: Type.Optional(
      Type.String({ minLength: 1, maxLength: 500, description: "What callers hear first. {bot} is the bot's name." }),
    ),
    dial_to: Type.Optional(
      Type.String({
        pattern: number,
        description:
          "The telephone that callers who want a person are put through to. Default: none; they leave a message.",
      }),
    ),
    dial_seconds: Type.Optional(
      Type.Integer({ minimum: 5, maximum: 120, description: "How long that telephone rings. Default: 20." }),
    ),
    hold_seconds: Type.Optional(
      Type.Integer({ minimum: 10, maximum: 300, description: "How long a caller waits for an answer. Default: 45." }),
    ),
    message_seconds: Type.Optional(
      Type.Integer({ minimum: 10, maximum: 600, description: "How long a message can be. Default: 120." }),
    ),
    transcribe: Type.Optional(
      Type.Boolean({
        description:
          "Whether Twilio writes messages down, which it can in English. Default: where the language is English.",
      }),
    ),
    sms_from: Type.Optional(
      Type.String({
        pattern: "^(\\+[1-9][0-9]{6,14}|[0-9]{3,8}|MG[0-9a-fA-F]{32})$",
        description: "The number or the messaging service that text messages to callers come from. Default: `from`.",
      }),
    ),
    link_phrases: Type.Optional(
      Type.Array(Type.String({ minLength: 2, maxLength: 60 }), {
        maxItems: 30,
        description: "What callers say to get the links of an answer by text message, besides pressing 1.",
      }),
    ),
    texts: Type.Optional(
      Type.Object(
        Object.fromEntries(
          textNames.map((name) => [name, Type.Optional(Type.String({ minLength: 1, maxLength: 500 }))]),
        ),
        {
          additionalProperties: false,
          description: "What callers hear besides answers, by name. Default: as the language.",
        },
      ),
    ),
    base_url: baseUrl,
  },
  { additionalProperties: false },
);

export type VoiceConfig = Static<typeof config>;

export interface VoiceSettings extends Account {
  readonly from: string;
  readonly language: string;
  readonly voice: string | undefined;
  readonly texts: Texts;
  readonly dialTo: string | undefined;
  readonly dialSeconds: number;
  readonly holdMs: number;
  readonly messageSeconds: number;
  readonly transcribe: boolean;
  readonly linkPhrases: readonly string[];
  /** For the text messages to callers. */
  readonly sms: Settings;
}

const defaultPhrases: Readonly<Record<string, readonly string[]>> = {
  en: ["text me", "text it to me", "send me the link", "send the link", "send me a text"],
  de: ["schick mir den link", "schicken sie mir den link", "schick mir eine sms", "als sms"],
  fr: ["envoyez-moi le lien", "envoie-moi le lien", "par sms"],
  es: ["envíeme el enlace", "mándame el enlace", "por sms"],
};

const transcribedMax = 120;

/** Throws an Error that tells the mend where the settings do not go together. */
export function settingsOf(given: VoiceConfig): VoiceSettings {
  const { from, dial_to: dialTo, language = "en-US", sms_from: smsFrom = from } = given;
  if (dialTo === from) {
    throw new Error("`dial_to` is the number that customers call: set it to the telephone of a person");
  }
  const messageSeconds = given.message_seconds ?? 120;
  if (given.transcribe === true && messageSeconds > transcribedMax) {
    throw new Error(
      `Twilio writes down messages of up to ${transcribedMax} seconds: set \`message_seconds\` to that, or \`transcribe: false\``,
    );
  }
  const base = {
    account_sid: given.account_sid,
    auth_token: given.auth_token,
    ...(given.base_url === undefined ? {} : { base_url: given.base_url }),
  };
  const spoken = language.split("-", 1)[0] ?? "";
  return {
    ...accountOf(given),
    from,
    language,
    voice: given.voice,
    texts: textsOf(language, { ...given.texts, ...(given.greeting === undefined ? {} : { greeting: given.greeting }) }),
    dialTo,
    dialSeconds: given.dial_seconds ?? 20,
    holdMs: (given.hold_seconds ?? 45) * 1_000,
    messageSeconds,
    transcribe: given.transcribe ?? (spoken === "en" && messageSeconds <= transcribedMax),
    linkPhrases: given.link_phrases ?? defaultPhrases[spoken] ?? [],
    sms: smsSettingsOf("sms", {
      ...base,
      ...(smsFrom.startsWith("MG") ? { messaging_service_sid: smsFrom } : { from: smsFrom }),
    }),
  };
}

/** What telephone networks put in place of a number that is withheld, such as the digits of ANONYMOUS. */
const withheld = new Set(["+266696687", "+7378742833", "+2562533", "+8656696", "+86282452253"]);

/** A number that a text message can be sent to; undefined for callers who withhold theirs, or call by other means. */
export const numberOf = (from: string): string | undefined =>
  /^\+[1-9][0-9]{6,14}$/.test(from) && !withheld.has(from) ? from : undefined;
