import type { CannedKey, SpokenLanguage } from "#language/bot-texts/languages.ts";
import { fold } from "#language/english.ts";
import { isUnspaced } from "#language/tokens.ts";

type Kind = Extract<CannedKey, "hello" | "thanks" | "goodbye">;

/** Greetings, thanks and farewells per language. English is in small-talk.ts. */
const said: Readonly<
  Record<Exclude<SpokenLanguage, "en">, Readonly<Record<Kind, string>> & { readonly beside: string }>
> = {
  de: {
    hello: "hallo|guten tag|guten morgen|guten abend|grüß gott|moin|servus",
    thanks: "danke|vielen dank|danke schön|dankeschön|besten dank|herzlichen dank",
    goodbye: "tschüss|tschüß|auf wiedersehen|ciao tschüss|schönen tag noch|bis bald",
    beside: "zusammen|liebes|team|sehr|ihnen|dir|für die hilfe|für ihre hilfe|und",
  },
  fr: {
    hello: "bonjour|bonsoir|salut",
    thanks: "merci|merci beaucoup|je vous remercie",
    goodbye: "au revoir|bonne journée|à bientôt|bonne soirée",
    beside: "à vous|et|pour votre aide|madame|monsieur|tous",
  },
  es: {
    hello: "hola|buenos días|buenas tardes|buenas noches|buenas",
    thanks: "gracias|muchas gracias|muchísimas gracias",
    goodbye: "adiós|hasta luego|hasta pronto",
    beside: "por su ayuda|por tu ayuda|por la ayuda|por todo|y|a todos|qué tal",
  },
  it: {
    hello: "ciao|buongiorno|buonasera|salve",
    thanks: "grazie|grazie mille|molte grazie",
    goodbye: "arrivederci|a presto|buona giornata",
    beside: "a tutti|per l'aiuto|e|tante",
  },
  pt: {
    hello: "olá|oi|bom dia|boa tarde|boa noite",
    thanks: "obrigado|obrigada|muito obrigado|muito obrigada",
    goodbye: "tchau|adeus|até logo|até mais",
    beside: "pela ajuda|e|tudo bem",
  },
  nl: {
    hello: "goedendag|goedemorgen|goedemiddag|goedenavond|hoi",
    thanks: "bedankt|dank je|dank u|dank je wel|dank u wel|hartelijk dank",
    goodbye: "tot ziens|doei|fijne dag",
    beside: "voor de hulp|voor je hulp|en|nog",
  },
  sv: {
    hello: "hej|hejsan|god morgon|god dag|god kväll",
    thanks: "tack|tack så mycket|stort tack",
    goodbye: "hej då|adjö|vi hörs",
    beside: "för hjälpen|och",
  },
  da: {
    hello: "goddag|god aften",
    thanks: "mange tak|tusind tak|tak skal du have|tak",
    goodbye: "farvel|hav en god dag",
    beside: "for hjælpen|og",
  },
  nb: {
    hello: "hei|god dag|god kveld",
    thanks: "takk|tusen takk|takk skal du ha|mange takk",
    goodbye: "ha det|ha det bra|ha en fin dag",
    beside: "for hjelpen|og",
  },
  fi: {
    hello: "moi|terve|hyvää päivää|hyvää huomenta|hyvää iltaa",
    thanks: "kiitos|kiitoksia|paljon kiitoksia|kiitos paljon",
    goodbye: "näkemiin|hei hei|moi moi",
    beside: "avusta|ja",
  },
  ru: {
    hello: "здравствуйте|привет|добрый день|доброе утро|добрый вечер",
    thanks: "спасибо|большое спасибо|спасибо большое|благодарю",
    goodbye: "до свидания|пока|всего доброго",
    beside: "вам|за помощь|и",
  },
  ja: {
    hello: "こんにちは|こんばんは|おはようございます|おはよう|はじめまして",
    thanks: "ありがとう|ありがとうございます|ありがとうございました|感謝します",
    goodbye: "さようなら|失礼します",
    beside: "どうも|とても",
  },
  zh: {
    hello: "你好|您好|早上好|下午好|晚上好|在吗",
    thanks: "谢谢|谢谢您|谢谢你|多谢|非常感谢",
    goodbye: "再见|拜拜",
    beside: "的帮助|您|你",
  },
  ko: {
    hello: "안녕하세요|안녕",
    thanks: "감사합니다|고맙습니다|고마워요|감사해요",
    goodbye: "안녕히 계세요|안녕히 가세요",
    beside: "정말|네",
  },
};

interface Phrases {
  readonly language: Exclude<SpokenLanguage, "en">;
  readonly kind: Kind | null;
  readonly text: string;
}

const bare = (text: string): string =>
  fold(text)
    .replaceAll(/[^\p{L}\p{N}\p{M}]+/gu, " ")
    .trim();

/** Longest first: "hej då" must not match "hej". */
const phrases: ReadonlyMap<SpokenLanguage, readonly Phrases[]> = new Map(
  Object.entries(said).map(([name, kinds]) => {
    const language = name as Exclude<SpokenLanguage, "en">;
    const all = Object.entries(kinds).flatMap(([kind, texts]) =>
      texts.split("|").map((text) => ({ language, kind: kind === "beside" ? null : (kind as Kind), text: bare(text) })),
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
