import type { SpokenLanguage } from "#language/locale.ts";
import { spokenLanguages } from "#language/locale.ts";
import { locales } from "#language/locales.ts";
import type { CannedKey } from "#language/text-keys.ts";
import { fold } from "#language/words/runs.ts";
import { isUnspaced } from "#language/words/runs.ts";

type Kind = Extract<CannedKey, "hello" | "thanks" | "goodbye">;

interface Phrases {
  readonly language: SpokenLanguage;
  readonly kind: Kind | null;
  readonly text: string;
}

const bare = (text: string): string =>
  fold(text)
    .replaceAll(/[^\p{L}\p{N}\p{M}]+/gu, " ")
    .trim();

/** Longest first: "hej då" must not match "hej". English is in small-talk.ts. */
const phrases: ReadonlyMap<SpokenLanguage, readonly Phrases[]> = new Map(
  spokenLanguages
    .filter((code) => code !== "en")
    .map((language) => {
      const all = Object.entries({ ...locales[language].courtesies }).flatMap(([kind, texts]) =>
        texts
          .split("|")
          .map((text) => ({ language, kind: kind === "beside" ? null : (kind as Kind), text: bare(text) })),
      );
      return [language, all.toSorted((left, right) => right.text.length - left.text.length)] as const;
    }),
);

const charactersMax = 80;

/** Languages without spaces: their phrases match anywhere in the text. */
const unspaced: ReadonlySet<SpokenLanguage> = new Set(["ja", "zh"]);
/** All words of the other languages' phrases. A message with any other word is not a courtesy. */
const courteousWords: ReadonlySet<string> = new Set(
  [...phrases].flatMap(([language, known]) =>
    unspaced.has(language) ? [] : known.flatMap(({ text }) => text.split(" ")),
  ),
);

/** The kind and language of a message that consists of courtesies only. Undefined for all others. */
export function courtesyIn(text: string): { readonly language: SpokenLanguage; readonly kind: Kind } | undefined {
  if (text.length > charactersMax) return undefined;
  const words = bare(text);
  if (words === "") return undefined;
  const mayBeSpaced = words.split(" ").every((word) => courteousWords.has(word));
  if (!mayBeSpaced && !isUnspaced(words)) return undefined;
  for (const [language, known] of phrases) {
    const spaced = !unspaced.has(language);
    if (spaced && !mayBeSpaced) continue;
    const kinds = new Set<Kind>();
    let rest = spaced ? ` ${words} ` : words.replaceAll(" ", "");
    for (const { kind, text: phrase } of known) {
      const sought = spaced ? ` ${phrase} ` : phrase.replaceAll(" ", "");
      while (rest.includes(sought)) {
        rest = rest.replace(sought, spaced ? "  " : " ");
        if (kind !== null) kinds.add(kind);
      }
    }
    if (rest.trim() !== "" || kinds.size === 0) continue;
    return { language, kind: kinds.has("thanks") ? "thanks" : kinds.has("goodbye") ? "goodbye" : "hello" };
  }
  return undefined;
}
