import { stopwords as arabicStops } from "@orama/stopwords/arabic";
import { stopwords as danishStops } from "@orama/stopwords/danish";
import { stopwords as dutchStops } from "@orama/stopwords/dutch";
import { stopwords as finnishStops } from "@orama/stopwords/finnish";
import { stopwords as frenchStops } from "@orama/stopwords/french";
import { stopwords as germanStops } from "@orama/stopwords/german";
import { stopwords as italianStops } from "@orama/stopwords/italian";
import { stopwords as norwegianStops } from "@orama/stopwords/norwegian";
import { stopwords as portugueseStops } from "@orama/stopwords/portuguese";
import { stopwords as russianStops } from "@orama/stopwords/russian";
import { stopwords as spanishStops } from "@orama/stopwords/spanish";
import { stopwords as swedishStops } from "@orama/stopwords/swedish";
import { stopwords as turkishStops } from "@orama/stopwords/turkish";
import { stemmer as arabic } from "@orama/stemmers/arabic";
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
import { stemmer as turkish } from "@orama/stemmers/turkish";

/** Languages whose inflected words are recognised. Texts of any other language are compared word by word. */
export const wordLanguages = [
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
  "tr",
  "ar",
] as const;
export type WordLanguage = (typeof wordLanguages)[number];
/** English has its own rules in `terms.ts`. */
export type OtherLanguage = Exclude<WordLanguage, "en">;

/** Words of a language from packages; all others are in its locale. */
interface WordPackages {
  readonly stopWords: readonly string[];
  readonly stem: (word: string) => string;
}

export const wordPackages: Readonly<Record<OtherLanguage, WordPackages>> = {
  de: { stopWords: germanStops, stem: german },
  fr: { stopWords: frenchStops, stem: french },
  es: { stopWords: spanishStops, stem: spanish },
  it: { stopWords: italianStops, stem: italian },
  pt: { stopWords: portugueseStops, stem: portuguese },
  nl: { stopWords: dutchStops, stem: dutch },
  sv: { stopWords: swedishStops, stem: swedish },
  da: { stopWords: danishStops, stem: danish },
  nb: { stopWords: norwegianStops, stem: norwegian },
  fi: { stopWords: finnishStops, stem: finnish },
  ru: { stopWords: russianStops, stem: russian },
  // Words of the package that were read in a wrong charset are left out.
  tr: { stopWords: turkishStops.filter((word) => /^[a-zçğıöşü]+$/u.test(word)), stem: turkishStem },
  ar: { stopWords: arabicStops, stem: arabic },
};

const turkishLetters = 5;

/** Endings of infinitives and of "can I" and "do I" questions, which the stemmer leaves: "silmek", "silebilir miyim", "silerim". */
const turkishVerb =
  /(?<=\p{L}{3})(?:m[ae](?:k|m|liyim|lıyım)?|(?:y?[ae]bil)?[ıiuüae]?r(?:[ıiuü]m|[ıi]z|[uü]z)|y?[ae]bilir|[ıiuü]yor(?:um|uz)?)$/u;

/**
 * The first letters of a Turkish word, without its endings. The stemmer cuts short words too far ("iade" becomes "ia")
 * and leaves the s of a possessive ("süresi" becomes "süres").
 */
function turkishStem(word: string): string {
  const verb = word.replace(turkishVerb, "");
  if (verb !== word) return verb.slice(0, turkishLetters);
  const cut = turkish(word);
  if (cut.length < turkishLetters - 1) return word.slice(0, turkishLetters - 1);
  const isPossessive = cut.endsWith("s") && /^[ıiuü]/u.test(word.slice(cut.length));
  return (isPossessive ? cut.slice(0, -1) : cut).slice(0, turkishLetters);
}
