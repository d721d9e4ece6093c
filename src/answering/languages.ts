import { stopwords as danish } from "@orama/stopwords/danish";
import { stopwords as dutch } from "@orama/stopwords/dutch";
import { stopwords as finnish } from "@orama/stopwords/finnish";
import { stopwords as french } from "@orama/stopwords/french";
import { stopwords as german } from "@orama/stopwords/german";
import { stopwords as italian } from "@orama/stopwords/italian";
import { stopwords as norwegian } from "@orama/stopwords/norwegian";
import { stopwords as portuguese } from "@orama/stopwords/portuguese";
import { stopwords as russian } from "@orama/stopwords/russian";
import { stopwords as spanish } from "@orama/stopwords/spanish";
import { stopwords as swedish } from "@orama/stopwords/swedish";
import { englishStopWords, fold } from "./english.ts";

/** Languages whose words are known in their forms. Texts of any other are compared word by word. */
export const wordLanguages = ["en", "de", "fr", "es", "it", "pt", "nl", "sv", "da", "nb", "fi", "ru"] as const;
export type WordLanguage = (typeof wordLanguages)[number];

const split = (words: string): string[] => words.split(/\s+/).filter((word) => word !== "");

/** Words of questions that say nothing of what is asked, and that the lists of the package do not have. */
const asking: Readonly<Record<Exclude<WordLanguage, "en">, string>> = {
  de: `wie was wer wen wem wessen wo wohin woher wann warum wieso weshalb welche kann können möchte möchten bitte gibt geht
    eigentlich mal habt dürfen darf müssen sollen danke hallo lange oft ihn wäre würde eure`,
  fr: `comment quand où pourquoi combien quoi dont est-ce puis peux peut pouvez pouvons dois doit faut faire fait voudrais
    veux avoir être merci bonjour svp plus très si donc alors lorsque jusque qu`,
  es: `cómo qué cuál cuáles cuándo dónde quién quiénes cuánto cuánta puedo puede pueden quiero quisiera hacer tengo debo gracias
    hola favor necesito`,
  it: `come cosa quando dove chi perché quanto quanta quali posso può possono puoi vorrei voglio devo fare essere avere grazie
    ciao favore c'è dell all nell dall sull quest`,
  pt: `como que qual quais quando onde quem porque porquê quanto quanta quantos posso pode podem quero queria gostaria fazer
    tenho devo obrigado obrigada olá favor preciso vocês`,
  nl: `hoe wat wie waar wanneer waarom welke welk hoeveel kan kunt mag wil graag alstublieft bedankt hallo jullie zijn is moeten
    krijg er ik mijn`,
  sv: `hur vad vem var när varför vilken vilka vilket kan får vill behöver tack hej snälla måste finns gör man mitt mina`,
  da: `hvordan hvad hvem hvor hvornår hvorfor hvilken hvilke hvilket kan får tak hej venligst gør findes mit mine mig man har`,
  nb: `hvordan hva hvem hvor når hvorfor hvilken hvilke hvilket kan får takk hei vennligst gjør finnes mitt mine man jeg`,
  fi: `miten mikä mitä kuka missä milloin miksi kuinka voinko voiko voin haluan kiitos hei pitää onko paljonko`,
  ru: `как что кто где когда почему зачем сколько какой какая какие могу можно нужно хочу пожалуйста спасибо здравствуйте мне
    мой моя мои ли это есть`,
};

/** Words of the lists that customers of a support ask for. */
const asked = new Set(
  split("cuenta cuentas tiempo trabajo horas dias días nuevo nueva nuevos nuevas uso usar país nulla"),
);

const lists: Readonly<Record<Exclude<WordLanguage, "en">, readonly string[]>> = {
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

function stopsOf(language: WordLanguage): ReadonlySet<string> {
  if (language === "en") return englishStopWords;
  const words = [...lists[language], ...split(asking[language])].filter((word) => !asked.has(word));
  return new Set(words.map((word) => plain(language, word)));
}

/** A word as it is compared: without case and accents, and in German however its umlauts are written. */
export function plain(language: WordLanguage, word: string): string {
  const folded = fold(word);
  if (language === "de") return folded.replaceAll("ß", "ss").replaceAll(/([aou])e/g, "$1");
  return folded.replaceAll("ø", "o").replaceAll("æ", "ae").replaceAll("œ", "oe").replaceAll("ß", "ss");
}

const stops = new Map<WordLanguage, ReadonlySet<string>>(
  wordLanguages.map((language) => [language, stopsOf(language)] as const),
);

/** Words that carry no subject of their own, as {@link plain} makes them. */
export function isStopWord(language: WordLanguage, word: string): boolean {
  return stops.get(language)?.has(word) === true;
}

/** Signs that only some languages write. */
const signs: Readonly<Partial<Record<WordLanguage, RegExp>>> = {
  de: /[äöüß]/u,
  fr: /[çêèùœîôû]|\b(?:qu|l|d|j|n|c)['’]/u,
  es: /[ñ¿¡áíóé]/u,
  it: /[àèìòù]|\b(?:dell|all|nell|dall|un|l)['’]/u,
  pt: /[ãõçêâ]/u,
  sv: /[åäö]/u,
  da: /[æøå]/u,
  nb: /[æøå]/u,
  fi: /[äö]/u,
};
const signCount = 0.9;
const wordsReadMax = 400;
/** Of prose, a third and more are such words. */
const proseShare = 0.12;
const proseWordsMin = 25;

export interface Guess {
  /** Those that something speaks for, the likeliest first. */
  readonly languages: readonly WordLanguage[];
  /** The first is likelier than all others by far. */
  readonly sure: boolean;
  /** So little speaks for them that it can be any other as well. */
  readonly weak: boolean;
}

/**
 * Which languages a text is in, by its words that every text of a language has, and its letters. A few words without
 * any of these can be of every language: then it is not sure of the first.
 */
export function guessLanguages(text: string): Guess {
  const lower = text.slice(0, 8_000).toLowerCase();
  if (/\p{Script=Cyrillic}/u.test(lower) && !/[a-z]{4}/.test(lower))
    return { languages: ["ru"], sure: true, weak: false };
  // A letter alone is as often part of a code.
  const words = (lower.match(/[\p{L}\p{M}]{2,}|(?<![\p{L}\p{N}.])[yàéèå](?![\p{L}\p{N}.])/gu) ?? []).slice(
    0,
    wordsReadMax,
  );
  const scores = wordLanguages.map((language) => {
    let score = 0;
    for (const word of words) if (isStopWord(language, plain(language, word))) score += 1;
    if (signs[language]?.test(lower) === true) score += signCount;
    return { language, score };
  });
  const sorted = scores.toSorted((left, right) => right.score - left.score);
  const [best, second] = sorted;
  if (best === undefined || second === undefined || best.score === 0) return { languages: [], sure: false, weak: true };
  const likely = sorted.filter(({ score }) => score > 0 && score >= best.score * 0.6).map(({ language }) => language);
  const lead = best.score - second.score;
  const sure =
    (lead >= 2 || (lead >= 1 && best.score >= 2 && words.length <= 12)) &&
    // Tables and listings have some of every language.
    (words.length < proseWordsMin || best.score >= words.length * proseShare);
  return { languages: likely, sure, weak: !sure && best.score < 2 };
}

/** In which language a document is; English where nothing tells. */
export function languageOf(text: string): WordLanguage {
  const { languages, sure } = guessLanguages(text);
  const [first = "en"] = languages;
  return sure || !languages.includes("en") ? first : "en";
}
