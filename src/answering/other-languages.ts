import { stemmer as danish } from "@orama/stemmers/danish";
import { stemmer as dutch } from "@orama/stemmers/dutch";
import { stemmer as finnish } from "@orama/stemmers/finnish";
import { stemmer as french } from "@orama/stemmers/french";
import { stemmer as german } from "@orama/stemmers/german";
import { stemmer as italian } from "@orama/stemmers/italian";
import { stemmer as norwegian } from "@orama/stemmers/norwegian";
import { stemmer as portuguese } from "@orama/stemmers/portuguese";
import { stemmer as russian } from "@orama/stemmers/russian";
import { stemmer as spanish } from "@orama/stemmers/spanish";
import { stemmer as swedish } from "@orama/stemmers/swedish";
import { fold } from "./english.ts";
import type { WordLanguage } from "./languages.ts";
import { isStopWord, plain } from "./languages.ts";
import { runsOf, unspacedWords } from "./words.ts";

type Other = Exclude<WordLanguage, "en">;

const stemmers: Readonly<Record<Other, (word: string) => string>> = {
  de: german,
  fr: french,
  es: spanish,
  it: italian,
  pt: portuguese,
  nl: dutch,
  sv: swedish,
  da: danish,
  nb: norwegian,
  fi: finnish,
  ru: russian,
};

/** Many type without accents; the endings are known with theirs. */
const restored: Readonly<Partial<Record<Other, readonly (readonly [RegExp, string])[]>>> = {
  es: [[/([cs])ion$/, "$1ión"]],
  pt: [
    [/cao$/, "ção"],
    [/coes$/, "ções"],
  ],
};

/** Languages that write an article or preposition before an apostrophe: "l'article", "dell'ordine". */
const eliding: ReadonlySet<Other> = new Set<Other>(["fr", "it"]);
const letters = /^\p{L}[\p{L}\p{M}]*$/u;
const wordCharactersMax = 64;
const rememberedMax = 20_000;
const remembered = new Map<string, string>();

function stemIn(language: Other, word: string): string {
  if (!letters.test(word)) return plain(language, word);
  const key = `${language}${word}`;
  const known = remembered.get(key);
  if (known !== undefined) return known;
  let whole = word;
  for (const [ending, accented] of restored[language] ?? []) whole = whole.replace(ending, accented);
  const made = plain(language, stemmers[language](whole));
  if (remembered.size >= rememberedMax) remembered.clear();
  remembered.set(key, made);
  return made;
}

/** The content words of a text in another language than English, folded, each with its stem. */
export function otherWordsOf(text: string, language: Other): { readonly word: string; readonly term: string }[] {
  const words: { readonly word: string; readonly term: string }[] = [];
  for (const run of runsOf(text.normalize("NFC").toLowerCase())) {
    const apart = unspacedWords(fold(run));
    if (apart !== undefined) {
      words.push(...apart.map((word) => ({ word, term: word })));
      continue;
    }
    for (const part of partsOf(run, language)) {
      const word = plain(language, part);
      if (word !== "" && !isStopWord(language, word)) words.push({ word, term: stemIn(language, part) });
    }
  }
  return words;
}

function partsOf(run: string, language: Other): string[] {
  const whole = run.slice(0, wordCharactersMax);
  if (eliding.has(language)) return whole.split(/['’ʼ]/u);
  return [whole.replace(/['’ʼ]s$/u, "").replaceAll(/['’ʼ]/gu, "")];
}
