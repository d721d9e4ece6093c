import { en } from "./locales/en.ts";
import type { SpokenLanguage } from "./locale.ts";
import { locales } from "./locales.ts";
import type { CannedKey } from "./text-keys.ts";

/** A workspace's own sentences, by language. */
export type Translations = Readonly<Partial<Record<SpokenLanguage, Readonly<Partial<Record<CannedKey, string>>>>>>;

/** Sentences of the bot that a workspace can replace for all languages. */
export interface DefaultTexts {
  readonly handoverMessage: string;
  /** A look-up failed. */
  readonly lookupFailedMessage: string;
  /** The outcome of a call that changes something is unknown. */
  readonly lookupUnsureMessage: string;
  /** A look-up is for verified customers only, and this customer is not verified. */
  readonly lookupUnverifiedMessage: string;
  /** The documents hold no answer. */
  readonly unknownMessage: string;
  /** The message has files and no text. */
  readonly filesOnlyMessage: string;
  /** Answer to an API client while an agent has the conversation. */
  readonly waitingMessage: string;
  /** Asks for a rating from 1 to 5. */
  readonly surveyMessage: string;
  /** Thanks for a rating that was typed. */
  readonly ratedMessage: string;
}

/** In English; used where a workspace sets none of its own. */
export const defaultTexts: DefaultTexts = {
  handoverMessage: en.bot.handover,
  lookupFailedMessage: en.bot.lookup_failed,
  lookupUnsureMessage: en.bot.lookup_unsure,
  lookupUnverifiedMessage: en.bot.lookup_unverified,
  unknownMessage: en.bot.unknown,
  filesOnlyMessage: en.bot.files_only,
  waitingMessage: en.bot.waiting,
  surveyMessage: en.bot.survey,
  ratedMessage: en.bot.rated,
};

/** The setting that replaces a sentence in all languages. */
const settingOf: Readonly<Partial<Record<CannedKey, keyof DefaultTexts>>> = {
  handover: "handoverMessage",
  unknown: "unknownMessage",
  waiting: "waitingMessage",
  survey: "surveyMessage",
  rated: "ratedMessage",
  files_only: "filesOnlyMessage",
  lookup_failed: "lookupFailedMessage",
  lookup_unsure: "lookupUnsureMessage",
  lookup_unverified: "lookupUnverifiedMessage",
};

/** The settings of a workspace that decide its texts. */
interface TextSettings extends DefaultTexts {
  readonly translations: Translations;
  readonly botName: string;
}

/**
 * A sentence in this language: the workspace's own for it, else the workspace's own for all languages, else the
 * built-in one.
 */
export function cannedText(settings: TextSettings, language: SpokenLanguage, key: CannedKey): string {
  const text =
    settings.translations[language]?.[key] ?? ownText(settings, key) ?? (locales[language].bot ?? en.bot)[key];
  return text.replaceAll("{bot}", () => settings.botName);
}

/** The same settings, with the sentences of the engine in this language. */
export function settingsIn<Settings extends TextSettings>(settings: Settings, language: SpokenLanguage): Settings {
  const texts = Object.entries(settingOf).map(([key, setting]) => [
    setting,
    cannedText(settings, language, key as CannedKey),
  ]);
  return { ...settings, ...(Object.fromEntries(texts) as Partial<DefaultTexts>) };
}

function ownText(settings: DefaultTexts, key: CannedKey): string | undefined {
  const setting = settingOf[key];
  return setting === undefined || settings[setting] === defaultTexts[setting] ? undefined : settings[setting];
}
