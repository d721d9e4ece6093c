import { detailsIn } from "./customer-details.ts";
import { leansOnBefore, putsAnother, withoutMeasure } from "./follow-up.ts";
import type { WordLanguage } from "#language/detection.ts";
import type { Synonyms } from "./synonyms.ts";
import { synonymsOf } from "./synonyms.ts";
import type { Word } from "#language/terms.ts";
import { contentWordsOf, termsOf, wordsOf } from "#language/terms.ts";

/** A question as it is searched for. */
export interface Understood {
  /** Distinct stems of the question's own content words. */
  readonly own: readonly string[];
  /** The words that these are the stems of, as they were written. */
  readonly words: readonly Word[];
  /** All of its words, those that say nothing of what is asked among them. */
  readonly wording: readonly string[];
  /** Stems that it borrows from what the customer asked before, since it speaks of that only as "it". */
  readonly borrowed: readonly string[];
  /** Stems of the words that only ask how much there is of what was asked before: "how long does that take?" */
  readonly measured: readonly string[];
  /** It asks the same as before of another thing: "and Word files?" */
  readonly another: boolean;
  /** The terms of what the customer says of themselves beside it, such as an address: a list for each. */
  readonly details: readonly (readonly string[])[];
  /** What "how many" counts: the stem of the word after it; null where nothing is counted. */
  readonly counted: string | null;
  /** In which language the words were read. */
  readonly language: WordLanguage;
  /** The words that it asks with, as {@link askingWords} tells them. */
  readonly asking: string | null;
  readonly asks: "steps" | "amount" | "number" | "time" | "person" | "difference" | "definition" | "anything";
}

/** A follow-up leans on a question that was asked at most so many messages ago. */
const historyReach = 6;
const termsMax = 40;

export function understand(
  text: string,
  history: readonly { readonly role: string; readonly content: string }[],
  synonyms: Synonyms = synonymsOf(),
  language: WordLanguage = "en",
): Understood {
  const wording = wordsOf(text);
  const asked = ownWords(withoutMeasure(text, language), synonyms, language);
  const subject = asked.map(({ term }) => term);
  const borrowed = borrowedTerms(text, subject, history, synonyms, language);
  // Where nothing else is asked, the words that ask how much are all there is. In English they are words of any question.
  const isMeasured = borrowed.length > 0 || (language === "en" && asked.length > 0);
  const words = isMeasured ? asked : ownWords(text, synonyms, language);
  const own = words.map(({ term }) => term);
  return {
    own,
    words,
    wording,
    borrowed,
    measured: borrowed.length > 0 && own.length === 0 ? ownWords(text, synonyms, language).map(({ term }) => term) : [],
    another: borrowed.length > 0 && putsAnother(text, own, language),
    details: detailsIn(text, language),
    counted: countedIn(text),
    language,
    asking: askingWords(wording, language),
    asks: kindOf(wording.join(" ")),
  };
}

/** One word for each stem. */
function ownWords(text: string, synonyms: Synonyms, language: WordLanguage): Word[] {
  const words = contentWordsOf(text, language);
  const terms = new Set(synonyms.read(words.map(({ term }) => term)));
  return [...terms]
    .slice(0, termsMax)
    .map((term) => ({ word: words.find((each) => each.term === term)?.word ?? term, term }));
}

function borrowedTerms(
  text: string,
  own: readonly string[],
  history: readonly { readonly role: string; readonly content: string }[],
  synonyms: Synonyms,
  language: WordLanguage,
): string[] {
  if (!leansOnBefore(text, own, language)) return [];
  for (const message of history.slice(-historyReach).toReversed()) {
    if (message.role !== "user") continue;
    const terms = ownWords(withoutMeasure(message.content, language), synonyms, language).map(({ term }) => term);
    const fresh = terms.filter((term) => !own.includes(term));
    // What only pointed elsewhere itself ("and that?") is passed over for what it pointed to.
    if (fresh.length > 0) return fresh;
  }
  return [];
}

const asking =
  /^(?:\S+ ){0,3}?(?<asking>how (?:long|much|many|often|soon|fast|quickly|old|big|large|far|high)|how|what|which|where|when|why|who)(?= |$)/u;

/** What tells one question on a thing from another: "how long", "how", "which". Null where it only names what it is about. */
export function askingWords(words: readonly string[], language: WordLanguage): string | null {
  if (language !== "en") return words.slice(0, 2).join(" ");
  const text = words.join(" ");
  if (/^(?:do|does|did|is|are|was|will|must|should|has|have) /u.test(text)) return "whether";
  const found = asking.exec(text)?.groups?.["asking"] ?? null;
  return found === "what" ? "which" : found;
}

/** Whether a heading that asks so asks for something else. "Does it work on …?" can be answered under "Where does it work?". */
export function asksOtherwise(heading: string | null, question: string | null): boolean {
  if (heading === null || question === null || heading === question) return false;
  if (heading !== "whether" && question !== "whether") return true;
  return `${heading} ${question}`.includes("how");
}

function countedIn(text: string): string | null {
  const after = /\bhow many\b(.*)$/isu.exec(text)?.[1];
  return after === undefined ? null : (termsOf(after)[0] ?? null);
}

function kindOf(words: string): Understood["asks"] {
  if (/^(?:what is|what are|whats) (?!the difference)(?:\S+ ){0,4}\S+$/.test(words)) return "definition";
  if (/\bhow (?:many|much)\b/.test(words)) return "amount";
  if (/\b(?:differences?|differ|differs|versus|vs|compared?)\b/.test(words)) return "difference";
  if (/\bhow (?:old|big|large|far|high)\b|\b(?:price|cost|costs|fee|number of|percentage)\b/.test(words))
    return "number";
  if (
    /\bhow (?:long|often|soon|fast|quickly)\b|^(?:and |but )?when\b(?! i\b)|\b(?:since|until) when\b|\bwhat (?:time|date|year|day|hours)\b|\b(?:opening|business) hours\b/.test(
      words,
    )
  )
    return "time";
  if (/^who\b|\bwho (?:is|was|did|made|can|should)\b/.test(words)) return "person";
  if (
    /\bhow (?:do|can|to|could|should|would|does)\b|\bwhat (?:can|should|do|must) (?:i|we) do\b|\b(?:steps|instructions|set up|setup|install|configure|reset|change|enable|disable)\b/.test(
      words,
    )
  )
    return "steps";
  return "anything";
}
