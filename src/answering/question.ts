import { detailsIn } from "./details.ts";
import { isSoft, termsOf, wordsOf } from "./terms.ts";

/** A question as it is searched for. */
export interface Understood {
  /** Distinct stems of the question's own content words. */
  readonly own: readonly string[];
  /** Stems that it borrows from what the customer asked before, since it speaks of that only as "it". */
  readonly borrowed: readonly string[];
  /** The terms of what the customer says of themselves beside it, such as an address: a list for each. */
  readonly details: readonly (readonly string[])[];
  /** What "how many" counts: the stem of the word after it; null where nothing is counted. */
  readonly counted: string | null;
  readonly asks: "steps" | "amount" | "number" | "time" | "person" | "difference" | "definition" | "anything";
}

/** A follow-up leans on a question that was asked at most so many messages ago. */
const historyReach = 6;
const followUpWordsMax = 12;
const followUpTermsMax = 3;
const termsMax = 40;

const pointing = /(?:^|\s)(?:it|its|that|this|they|them|their|those|these|one|ones|there|he|she|his|her|same)(?=\s|$)/u;
const continuing = /^(?:and|but|or|so|also|what about|how about|what if|why)(?=\s|$)/u;
/** Begins a question of its own as well: "How long does delivery take?" is whole, "How long in all?" is not. */
const measured = /^(?:which|how long|how much|how many|when|where)(?=\s|$)/u;

export function understand(
  text: string,
  history: readonly { readonly role: string; readonly content: string }[],
): Understood {
  const own = ownTerms(text);
  return {
    own,
    borrowed: borrowedTerms(text, own, history),
    details: detailsIn(text),
    counted: countedIn(text),
    asks: kindOf(text),
  };
}

/** "How long does it take" asks for a time; that it says "long" and "take" is no reason to look for these words. */
const measuring =
  /\bhow (?:long|much|many|old|big|large|far|often|high|fast|soon|quickly)\b(?:\s+(?:time|does|do|will|would|is|it|the|a)\b)*/giu;
const taking = /\btak(?:es?|ing)\b/giu;

function ownTerms(text: string): string[] {
  const asking = text.replaceAll(measuring, " ");
  const rest = asking === text ? text : asking.replaceAll(taking, " ");
  const terms = [...new Set(termsOf(rest))];
  // Where nothing else is asked, these words are all there is.
  return (terms.length > 0 ? terms : [...new Set(termsOf(text))]).slice(0, termsMax);
}

function borrowedTerms(
  text: string,
  own: readonly string[],
  history: readonly { readonly role: string; readonly content: string }[],
): string[] {
  const words = wordsOf(text);
  const joined = words.join(" ");
  const leans =
    own.length === 0 ||
    (own.length <= followUpTermsMax && pointing.test(joined)) ||
    (own.length === 1 && (continuing.test(joined) || (measured.test(joined) && own.every(isSoft))));
  if (!leans || words.length > followUpWordsMax) return [];
  for (const message of history.slice(-historyReach).toReversed()) {
    if (message.role !== "user") continue;
    const terms = [...new Set(termsOf(message.content))].filter((term) => !own.includes(term));
    // What only pointed elsewhere itself ("and that?") is passed over for what it pointed to.
    if (terms.length > 0) return terms.slice(0, termsMax);
  }
  return [];
}

function countedIn(text: string): string | null {
  const after = /\bhow many\b(.*)$/isu.exec(text)?.[1];
  return after === undefined ? null : (termsOf(after)[0] ?? null);
}

function kindOf(text: string): Understood["asks"] {
  const words = wordsOf(text).join(" ");
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
