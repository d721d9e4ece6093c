import { en } from "#language/locales/en.ts";

/** Words that carry no subject of their own. Compared before stemming, apostrophes already gone. */
export const englishStopWords: ReadonlySet<string> = new Set(en.stopWords.split(/\s+/));
