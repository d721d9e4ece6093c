/** Languages that the bot's own sentences are there in. */
export const spokenLanguages = [
  "en",
  "de",
  "fr",
  "es",
  "it",
  "pt",
  "nl",
  "sv",
  "da",
  "nb",
  "fi",
  "ru",
  "ja",
  "zh",
  "ko",
] as const;
export type SpokenLanguage = (typeof spokenLanguages)[number];

/** What the bot says by itself. `{bot}` in a text is its name; `{time}`, `{day}`, `{timezone}` and `{language}` stand where they are told. */
export const cannedKeys = [
  "handover",
  "unknown",
  "waiting",
  "uncertain",
  "hello",
  "thanks",
  "goodbye",
  "pleased",
  "about",
  "files_only",
  "lookup_failed",
  "lookup_unsure",
  "lookup_unverified",
  "lead_kept",
  "lead_wanted",
  "hours_open",
  "hours_today",
  "hours_later",
  "hours_closed",
  "lookup_none",
  "unknown_language",
] as const;
export type CannedKey = (typeof cannedKeys)[number];

/** A workspace's own sentences, by language. */
export type Translations = Readonly<Partial<Record<SpokenLanguage, Readonly<Partial<Record<CannedKey, string>>>>>>;
