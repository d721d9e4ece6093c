import type { AskedTerms } from "#answering/understand/asked-terms.ts";
import type { Understood } from "#answering/understand/question.ts";
import type { Placed } from "./merged-passages.ts";
import { union } from "./merged-passages.ts";
import { isSoft, wordCount } from "#language/words/terms.ts";

// Measured on three question sets: these three signals separate right answers from wrong ones best.
const titleBonus = 0.15;
const verbatimBonus = 0.15;
const missingCost = 0.4;
/** Share of the question's weight that may be missing at no cost, since documents paraphrase. */
const missingFree = 0.15;
/** Bonus for a defining sentence: a definition question has too few words to reach the floor otherwise. */
const definitionBonus = 0.2;
/** Bonus for a row of a table with every term of the question: it has the thing, and the column that is asked for. */
const rowBonus = 0.15;
/** Cost of several rows of which the question names none. */
const anyRowsCost = 0.2;
const subjectWordsMax = 8;
/** Title fit from which the title counts as the question. The text then need not repeat its terms. */
const sameQuestion = 0.8;
/** Cost of an answer that lacks the kind of thing asked for. */
const lackingCost: Readonly<Record<Understood["asks"], number>> = {
  price: 0.2,
  amount: 0.5,
  difference: 0.15,
  number: 0.03,
  time: 0.12,
  definition: 0,
  person: 0,
  steps: 0,
  anything: 0,
};

/** Digits inside a word, such as the name of a product, are no amount. */
const amounts =
  /(?<![\p{L}\p{N}])\p{N}|\b(?:one(?! (?:or more|of)\b)|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|dozens?|hundreds?|thousands?|millions?|billions?|free|half|twice|no (?:limit|charge|fee)|unlimited|unlimitedly|any number)\b/iu;
const prices = new RegExp(
  [
    String.raw`\p{Sc}|\d ?%`,
    String.raw`(?<!\p{L})(?:euros?|dollars?|pounds?|cents?|pence|francs?|kron(?:a|e|or|er)|free|nothing|no (?:charge|fee|cost))(?!\p{L})`,
    String.raw`(?<!\p{L})(?:eur|usd|gbp|chf|sek|nok|dkk|pln|czk|huf|aud|nzd|jpy|cny|inr|brl|mxn|zar|aed|sar|sgd|hkd|krw)(?!\p{L})`,
    String.raw`\d[ \u00A0]?(?:kr|zł|kč|ft|lei|rs)(?!\p{L})|(?<!\p{L})(?:kr|rs)\.?[ \u00A0]?\d`,
    String.raw`(?<!\p{L})(?:price|cost|fee|charge|rate)[^.!?]{0,40}\d`,
  ].join("|"),
  "iu",
);
const times =
  /\b(?:1[5-9]|20)\d\d\b|\d{1,2}:\d\d|\b(?:seconds?|minutes?|hours?|days?|nights?|weeks?|months?|years?|january|february|march|april|may|june|july|august|september|october|november|december|monday|tuesday|wednesday|thursday|friday|saturday|sunday|daily|weekly|monthly|yearly|always|never|immediately|instantly|after|before|during|until|once|when|as soon as)\b/iu;

const differences =
  /\b(?:differs?|differences?|differing|compar\w*|versus|vs|unlike|whereas|instead of|rather than|than|on the other hand|in contrast|in addition)\b/iu;

/** Excludes the passive and the progressive ("is made of", "are being"), which do not define. */
const subject = /^(.{1,80}?) (?:is|are|means|refers to|stands for) (?!(?:not|also|only) |\p{L}+(?:ed|en|ing)\b)/iu;

/** True for "A blue kettle is …" when the question is "What is a kettle?": the subject contains every question term. */
function defines(text: string, asked: AskedTerms): boolean {
  const before = subject.exec(text)?.[1];
  if (before === undefined || wordCount(before) > subjectWordsMax) return false;
  const named = new Set(asked.askedIn(asked.termsOf(before)).map(({ term }) => term));
  return [...asked.weights.keys()].every((term) => named.has(term));
}

/** Bonus for what a table or a sentence states of the thing asked about: its row, or "Check-out is at 11:00". */
function statedBonus(placed: readonly Placed[], question: Understood, asked: AskedTerms): number {
  if (placed.some((each) => isLookedUp(each, asked))) return rowBonus;
  const isTime = ({ unit: { text } }: Placed): boolean => clock.test(text) && defines(text, asked);
  return question.asks === "time" && asked.weights.size > 0 && placed.some(isTime) ? definitionBonus : 0;
}

/** Whether a row has every term of the question, with the thing in its first cell, and the rest in the name of a column. */
function isLookedUp({ unit, terms }: Placed, asked: AskedTerms): boolean {
  if (unit.kind !== "row" || ![...asked.weights.keys()].every((term) => terms.has(term))) return false;
  const isAsked = (text: string): boolean => asked.askedIn(asked.termsOf(text)).some(({ term }) => !isSoft(term));
  const [thing, ...others] = unit.text.split(" | ").map((cell) => {
    const [name = "", ...value] = cell.split(": ");
    return value.length === 0 ? { name: "", value: name } : { name, value: value.join(": ") };
  });
  return isAsked(thing?.value ?? "") && others.some(({ name, value }) => isAsked(name) && !isAsked(value));
}

/** Whether rows have words of the question in the names of their columns only: all rows of their table have these. */
function areAnyRows(placed: readonly Placed[], asked: AskedTerms): boolean {
  const isMeant = ({ unit }: Placed): boolean =>
    unit.text.split(" | ").some((cell) => {
      const [name = "", ...value] = cell.split(": ");
      const said = value.length === 0 ? name : value.join(": ");
      return asked.askedIn(asked.termsOf(said)).some(({ term }) => !isSoft(term));
    });
  return placed.length > 1 && placed.every(({ unit }) => unit.kind === "row") && !placed.some(isMeant);
}

const clock = /\p{N}|\b(?:noon|midnight|(?:mon|tues|wednes|thurs|fri|satur|sun)days?)\b/iu;

/** Whether a text has the kind of thing asked for. True when the question asks for no particular kind. */
export function hasAskedKind(text: string, asks: Understood["asks"], asked: AskedTerms): boolean {
  switch (asks) {
    case "price":
      return prices.test(text);
    case "amount":
    case "number":
      return amounts.test(text);
    case "time":
      return times.test(text);
    case "difference":
      return differences.test(text);
    case "definition":
      return defines(text, asked);
    case "person":
    case "steps":
    case "anything":
      return true;
  }
}

/**
 * Adjusts the confidence of an answer made of these units. The caller subtracts the result: positive values lower the
 * confidence, negative values raise it. Considered are a title that is the question, a heavy question term that is
 * missing from the units and their headings, and a missing number where the question is "how many".
 */
export function evidencePenalty(placed: readonly Placed[], question: Understood, asked: AskedTerms): number {
  const titles = [...new Set(placed.map(({ passage }) => passage.candidate.title))];
  const fit = Math.max(0, ...placed.map(({ passage }) => passage.fit));
  const present = union(...placed.map(({ titled }) => titled));
  let all = 0;
  let missing = 0;
  for (const [term, weight] of asked.weights) {
    all += weight;
    if (!present.has(term) && !isSoft(term)) missing = Math.max(missing, weight);
  }
  const share = all === 0 ? 0 : missing / all;
  const { counted } = question;
  const asksItself =
    fit >= sameQuestion && counted !== null && titles.some((title) => asked.termsOf(title).includes(counted));
  const said = placed
    // "Three spaces" does not answer "how many members", unless the heading is that question.
    .filter(({ terms }) => counted === null || asksItself || terms.has(asked.askedBy(counted) ?? counted))
    .map(({ unit }) => unit.text);
  // A page titled "Mini and Maxi compared" need not state in its text that it compares.
  const has = [...said, ...(question.asks === "difference" ? titles : [])].some((text) =>
    hasAskedKind(text, question.asks, asked),
  );
  // A follow-up that asks only for a size must get one: otherwise the previous answer is repeated.
  const asksOnlyThat = question.measured.length > 0 && question.asks !== "anything";
  const lacks = has ? 0 : asksOnlyThat ? lackingCost.amount : lackingCost[question.asks];
  // "How do I stop the server?" has only common words, and their weights prove nothing.
  const verbatim = placed.some(({ passage }) => passage.verbatim) ? verbatimBonus : 0;
  const stated = has && question.asks === "definition" ? definitionBonus : statedBonus(placed, question, asked);
  const bonus = verbatim + Math.max(titleBonus * fit ** 2, stated);
  const any = fit < sameQuestion && areAnyRows(placed, asked) ? anyRowsCost : 0;
  return missingCost * Math.max(0, share - missingFree) * (1 - fit) + lacks + any - bonus;
}
