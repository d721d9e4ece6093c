import { detailsIn } from "./customer-details.ts";
import { isFollowUp, asksAboutAnother, withoutMeasure } from "./follow-up.ts";
import type { WordLanguage } from "#language/detection.ts";
import type { Synonyms } from "#language/words/synonyms.ts";
import { synonymsOf } from "#language/words/synonyms.ts";
import type { Word } from "#language/words/terms.ts";
import { contentWordsOf, termsOf, wordsOf } from "#language/words/terms.ts";

/** A parsed question. */
export interface Understood {
  /** Distinct stems of the question's own content words. */
  readonly own: readonly string[];
  /** The words of these stems, as written. */
  readonly words: readonly Word[];
  /** All words, stop words included. */
  readonly wording: readonly string[];
  /** Stems borrowed from the customer's previous question, to which this one refers only as "it". */
  readonly borrowed: readonly string[];
  /** Stems of the measuring words of a follow-up: "how long does that take?" */
  readonly measured: readonly string[];
  /** True when it repeats the previous question for another thing: "and Word files?" */
  readonly another: boolean;
  /** The terms of each personal detail in the message, such as an address. */
  readonly details: readonly (readonly string[])[];
  /** The stem of the word after "how many". Null when the question does not count. */
  readonly counted: string | null;
  /** The language in which the words were read. */
  readonly language: WordLanguage;
  /** The question words, as {@link askingWords} returns them. */
  readonly asking: string | null;
  readonly asks: "steps" | "price" | "amount" | "number" | "time" | "person" | "difference" | "definition" | "anything";
}

/** How many messages back a follow-up can refer. */
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
  // Measuring words are dropped unless the question has no others. In English they occur in any question.
  const isMeasured = borrowed.length > 0 || (language === "en" && asked.length > 0);
  const words = isMeasured ? asked : ownWords(text, synonyms, language);
  const own = words.map(({ term }) => term);
  const isAnother = borrowed.length > 0 && asksAboutAnother(text, own, language);
  return {
    own,
    words,
    wording,
    borrowed,
    measured: borrowed.length > 0 && own.length === 0 ? ownWords(text, synonyms, language).map(({ term }) => term) : [],
    another: isAnother,
    details: detailsIn(text, language),
    counted: countedIn(text),
    language,
    asking: askingWords(wording, language),
    asks: kindAsked(wording, isAnother, history),
  };
}

/** "And on a Mac?" asks for what the question before it asked for. */
function kindAsked(
  wording: readonly string[],
  isAnother: boolean,
  history: readonly { readonly role: string; readonly content: string }[],
): Understood["asks"] {
  const asks = kindOf(wording.join(" "));
  if (asks !== "anything" || !isAnother) return asks;
  const before = history.findLast(({ role }) => role === "user");
  return before === undefined ? asks : kindOf(wordsOf(before.content).join(" "));
}

/** The content words, one per stem. */
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
  if (!isFollowUp(text, own, language)) return [];
  for (const message of history.slice(-historyReach).toReversed()) {
    if (message.role !== "user") continue;
    const terms = ownWords(withoutMeasure(message.content, language), synonyms, language).map(({ term }) => term);
    const fresh = terms.filter((term) => !own.includes(term));
    // A message that is itself only a reference ("and that?") has no terms: go further back.
    if (fresh.length > 0) return fresh;
  }
  return [];
}

const asking =
  /^(?:\S+ ){0,3}?(?<asking>how (?:long|much|many|often|soon|fast|quickly|old|big|large|far|high)|how|what|which|where|when|why|who)(?= |$)/u;

/**
 * The question words that distinguish questions about one subject: "how long", "how", "which". Null when there are none.
 * In other languages than English: the first two words.
 */
export function askingWords(words: readonly string[], language: WordLanguage): string | null {
  if (language !== "en") return words.slice(0, 2).join(" ");
  const text = words.join(" ");
  if (/^(?:do|does|did|is|are|was|will|must|should|has|have) /u.test(text)) return "whether";
  const word = asking.exec(text)?.groups?.["asking"] ?? null;
  return word === "what" ? "which" : word;
}

/** Whether two kinds of asking words differ. A heading "Where does it work?" can still answer "Does it work on …?". */
export function asksOtherwise(heading: string | null, question: string | null): boolean {
  if (heading === null || question === null || heading === question) return false;
  if (heading !== "whether" && question !== "whether") return true;
  return `${heading} ${question}`.includes("how");
}

/** Ends the name of what is counted: "port rules" in "how many port rules can it hold". */
const afterCounted =
  /[^\p{L}\p{N}\s'’-]|\b(?:can|could|may|might|do|does|did|is|are|was|were|will|would|should|must|have|has|there|per|in|on|of|for|at|to|with|from|by|i|you|we|they|it)\b/iu;

function countedIn(text: string): string | null {
  const after = /\bhow many\b(.*)$/isu.exec(text)?.[1];
  if (after === undefined) return null;
  const name = after.split(afterCounted, 1)[0] ?? "";
  return termsOf(name).at(-1) ?? termsOf(after)[0] ?? null;
}

const asksPrice = new RegExp(
  [
    // "How much is left?" and "How much was delivered?" ask for another amount.
    String.raw`\bhow much (?:is|are|was|were|for|to)(?! \S+ed\b| left\b| of\b)(?! .*\bleft\b)`,
    String.raw`\bhow expensive\b`,
    String.raw`\b(?:how much|what) (?:does|do|did|will|would) (?:\S+ ){0,6}?costs?\b(?! cent(?:er|re))`,
    // "What do I do if it won't charge?" has more words between.
    String.raw`\b(?:how much|what) (?:do|does|did|will|would) (?:i|you|we|they) (?:have to )?(?:charge|pay|owe)\b`,
    String.raw`\bwhat(?: is| are|s)? (?:\S+ ){0,3}?(?:price|cost)s?\b(?! cent(?:er|re))`,
    // "What is the charge time?" names another thing.
    String.raw`\bwhat(?: is| are|s)? (?:\S+ ){0,3}?(?:fee|charge)s?(?:$| (?:for|of|to)\b)`,
    String.raw`\b(?:price|cost) (?:of|for)\b`,
  ].join("|"),
);

/** Matches a wish for steps that no question word introduces: "I want to delete my account", "delete my account, how". */
const wishesSteps = new RegExp(
  [
    String.raw`\bhow$`,
    // "Do I need to register?" and "If I want to return it, who pays?" ask for something else.
    String.raw`(?<!\b(?:do|does|did|if|when|why|where|what|who|which|should|must|can|could) )(?<!\p{L})(?:i|we) (?:want|wanted|need|would like|d like|wanna|am trying|m trying|are trying|try|tried) to (?!know\b|ask\b|hear\b|see\b|speak\b|talk\b)`,
    String.raw`\b(?:id like|im trying|were trying) to (?!know\b|ask\b|hear\b|see\b|speak\b|talk\b)`,
    String.raw`\bis there (?:a|any|some) way\b|\bways? to\b`,
  ].join("|"),
  "u",
);

/** The kind of thing that a question asks for. `words`: all of its words, separated by spaces. */
export function kindOf(words: string): Understood["asks"] {
  if (asksPrice.test(words)) return "price";
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
    ) ||
    wishesSteps.test(words)
  )
    return "steps";
  return "anything";
}
