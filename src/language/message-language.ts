import { wordsIn } from "./phrases.ts";

export const languages = ["en", "de", "fr", "es", "it", "nl", "pt", "pl", "ja", "zh", "ko", "ru", "ar", "el"] as const;
export type Language = (typeof languages)[number];

/** Words that nearly every sentence of a language has, and few sentences of another; folded. */
const common: Readonly<Partial<Record<Language, string>>> = {
  en: "the and is are was my your you how what where when why do does can i it this that with for have has not please to of",
  de: "der die das und ist sind mein meine wie was wo wann warum kann ich es dieses mit fur habe hat nicht bitte zu von ein eine sie wir auf den dem",
  fr: "le la les et est sont mon ma mes comment que quoi ou quand pourquoi peux je il ce cette avec pour ai pas sil vous plait de des un une du nous",
  es: "el la los las y es son mi mis como que donde cuando por puedo yo esto con para tengo no favor de un una del esta su",
  it: "il lo la gli e sono mio mia come che cosa dove quando perche posso io questo con per ho non di un una del della mi",
  nl: "de het en is zijn mijn hoe wat waar wanneer waarom kan ik dit met voor heb niet alstublieft van een je u we dat",
  pt: "o a os as e sao meu minha como que onde quando posso eu isto com para tenho nao por um uma do da voce",
  pl: "i jest sa moj moja jak co gdzie kiedy dlaczego moge ja to z dla mam nie prosze do w na sie",
};

const lists = Object.entries(common).map(([language, words]) => ({
  language: language as Language,
  words: new Set(words.split(" ")),
}));

const scripts: readonly (readonly [RegExp, Language])[] = [
  [/[\p{Script=Hiragana}\p{Script=Katakana}]/u, "ja"],
  [/\p{Script=Hangul}/u, "ko"],
  [/\p{Script=Han}/u, "zh"],
  [/\p{Script=Cyrillic}/u, "ru"],
  [/\p{Script=Arabic}/u, "ar"],
  [/\p{Script=Greek}/u, "el"],
];

/** The language that a message is most likely in; null where it has too little to tell by. */
export function languageOf(text: string): Language | null {
  const sample = text.slice(0, 2_000);
  const script = scripts.find(([pattern]) => pattern.test(sample));
  if (script !== undefined) return script[1];
  const { words } = wordsIn(sample);
  const counted = lists
    .map(({ language, words: known }) => ({ language, hits: words.filter((word) => known.has(word)).length }))
    .toSorted((left, right) => right.hits - left.hits);
  const [first, second] = counted;
  return first === undefined || first.hits === 0 || first.hits === second?.hits ? null : first.language;
}
