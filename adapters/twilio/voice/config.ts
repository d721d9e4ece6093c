import Type from "typebox";
import type { Static } from "typebox";
import type { Account } from "../shared/client.ts";
import { accountOf, accountSid, authToken, baseUrl } from "../shared/account.ts";
import type { Settings } from "../messaging/config.ts";
import { settingsOf as smsSettingsOf } from "../messaging/config.ts";
import { localeOf } from "#language/locales.ts";
import type { VoiceTexts } from "#language/locale.ts";
import { en } from "#language/locales/en.ts";
import { voiceTextKeys } from "#language/text-keys.ts";

const number = "^\\+[1-9][0-9]{6,14}$";

export const config = Type.Object(
  {
    account_sid: accountSid,
    auth_token: authToken,
    from: Type.String({
      pattern: number,
      title: "Number",
      description: "The number that customers call, such as +15551234567.",
    }),
    language: Type.Optional(
      Type.String({
        pattern: "^[a-z]{2,3}(-[A-Za-z0-9]{2,8}){0,2}$",
        title: "Language",
        description: "The language that callers speak and hear, such as en-GB or de-DE. Default: en-US.",
      }),
    ),
    voice: Type.Optional(
      Type.String({
        pattern: "^[A-Za-z0-9.-]{2,60}$",
        title: "Voice",
        description: "Twilio's name of a voice, such as Polly.Joanna. Default: Twilio's own for the language.",
      }),
    ),
    greeting: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 500,
        title: "Greeting",
        description: "The first sentence that callers hear. {bot} is the bot's name.",
      }),
    ),
    dial_to: Type.Optional(
      Type.String({
        pattern: number,
        title: "Telephone of a person",
        description:
          "The number that callers who want a person are put through to. Default: none; they leave a message.",
      }),
    ),
    dial_seconds: Type.Optional(
      Type.Integer({
        minimum: 5,
        maximum: 120,
        title: "Ringing time",
        advanced: true,
        description: "How many seconds that telephone rings. Default: 20.",
      }),
    ),
    hold_seconds: Type.Optional(
      Type.Integer({
        minimum: 10,
        maximum: 300,
        title: "Waiting time",
        advanced: true,
        description: "How many seconds a caller waits for an answer. Default: 45.",
      }),
    ),
    message_seconds: Type.Optional(
      Type.Integer({
        minimum: 10,
        maximum: 600,
        title: "Length of messages",
        advanced: true,
        description: "How many seconds a message can be. Default: 120.",
      }),
    ),
    transcribe: Type.Optional(
      Type.Boolean({
        title: "Written messages",
        advanced: true,
        description:
          "Whether Twilio writes messages down, which it can in English. Default: yes where the language is English.",
      }),
    ),
    sms_from: Type.Optional(
      Type.String({
        pattern: "^(\\+[1-9][0-9]{6,14}|[0-9]{3,8}|MG[0-9a-fA-F]{32})$",
        title: "Sender of text messages",
        advanced: true,
        description:
          "The number or the messaging service that text messages to callers come from. Default: the number that customers call.",
      }),
    ),
    link_phrases: Type.Optional(
      Type.Array(Type.String({ minLength: 2, maxLength: 60 }), {
        maxItems: 30,
        title: "Phrases that ask for links",
        advanced: true,
        description: "The words by which callers get the links of an answer by text message, besides pressing 1.",
      }),
    ),
    texts: Type.Optional(
      Type.Object(
        Object.fromEntries(
          voiceTextKeys.map((name) => [name, Type.Optional(Type.String({ minLength: 1, maxLength: 500 }))]),
        ),
        {
          additionalProperties: false,
          title: "Spoken texts",
          advanced: true,
          description: "Texts that callers hear besides answers, by name. Default: those of the language.",
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
  readonly texts: VoiceTexts;
  readonly dialTo: string | undefined;
  readonly dialSeconds: number;
  readonly holdMs: number;
  readonly messageSeconds: number;
  readonly transcribe: boolean;
  readonly linkPhrases: readonly string[];
  /** The sender of text messages to callers. */
  readonly sms: Settings;
}

const transcribedMax = 120;

/** Throws an Error that names the fix when settings contradict each other. */
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
  const baseLanguage = language.split("-", 1)[0] ?? "";
  const locale = localeOf(language);
  return {
    ...accountOf(given),
    from,
    language,
    voice: given.voice,
    texts: {
      ...(locale?.voice ?? en.voice),
      ...given.texts,
      ...(given.greeting === undefined ? {} : { greeting: given.greeting }),
    },
    dialTo,
    dialSeconds: given.dial_seconds ?? 20,
    holdMs: (given.hold_seconds ?? 45) * 1_000,
    messageSeconds,
    transcribe: given.transcribe ?? (baseLanguage === "en" && messageSeconds <= transcribedMax),
    linkPhrases: given.link_phrases ?? locale?.linkBySms ?? [],
    sms: smsSettingsOf("sms", {
      ...base,
      ...(smsFrom.startsWith("MG") ? { messaging_service_sid: smsFrom } : { from: smsFrom }),
    }),
  };
}

/** Placeholders of telephone networks for a withheld number: +266696687 spells ANONYMOUS on a keypad. */
const withheld = new Set(["+266696687", "+7378742833", "+2562533", "+8656696", "+86282452253"]);

/** A number that can receive text messages; undefined for withheld numbers and callers without one, such as SIP. */
export const numberOf = (from: string): string | undefined =>
  /^\+[1-9][0-9]{6,14}$/.test(from) && !withheld.has(from) ? from : undefined;
