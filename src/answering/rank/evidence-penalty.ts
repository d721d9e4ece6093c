import type { AskedTerms } from "#answering/understand/asked-terms.ts";
import type { Understood } from "#answering/understand/question.ts";
import type { Placed } from "./merged-passages.ts";
import { union } from "./merged-passages.ts";
import { isSoft, wordCount } from "#language/terms.ts";

// Measured on three sets of questions: of what can be counted, these three tell right answers from wrong ones best.
const titleBonus = 0.15;
const verbatimBonus = 0.15;
const missingCost = 0.4;
/** A word of one part in seven may be put differently. */
const missingFree = 0.15;
/** A sentence that says what the thing is, is the answer, however few words the question has to prove it. */
const definitionBonus = 0.2;
const subjectWordsMax = 8;
/** From here on the title is taken for the question, and the text need not repeat it. */
const sameQuestion = 0.8;
/** What it costs not to have the kind of thing that was asked for. */
const lackingCost: Readonly<Record<Understood["asks"], number>> = {
  amount: 0.5,
  difference: 0.15,
  number: 0.03,
  time: 0.12,
  definition: 0,
  person: 0,
  steps: 0,
  anything: 0,
};

const amounts =
  /\p{N}|\b(?:one(?! (?:or more|of)\b)|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|dozens?|hundreds?|thousands?|millions?|billions?|free|half|twice|no (?:limit|charge|fee)|unlimited|unlimitedly|any number)\b/iu;
const times =
  /\b(?:1[5-9]|20)\d\d\b|\d{1,2}:\d\d|\b(?:seconds?|minutes?|hours?|days?|nights?|weeks?|months?|years?|january|february|march|april|may|june|july|august|september|october|november|december|monday|tuesday|wednesday|thursday|friday|saturday|sunday|daily|weekly|monthly|yearly|always|never|immediately|instantly|after|before|during|until|once|when|as soon as)\b/iu;

const differences =
  /\b(?:differs?|differences?|differing|compar\w*|versus|vs|unlike|whereas|instead of|rather than|than|on the other hand|in contrast|in addition)\b/iu;

/** Not "is made of", "are being": that tells what happens to it. */
const subject = /^(.{1,80}?) (?:is|are|means|refers to|stands for) (?!(?:not|also|only) |\p{L}+(?:ed|en|ing)\b)/iu;

/** "A blue kettle is …" where it was asked what a kettle is: its subject has all that was asked. */
function defines(text: string, asked: AskedTerms): boolean {
  const before = subject.exec(text)?.[1];
  if (before === undefined || wordCount(before) > subjectWordsMax) return false;
  const held = new Set(asked.askedIn(asked.termsOf(before)).map(({ term }) => term));
  return [...asked.weights.keys()].every((term) => held.has(term));
}

/** Whether a text has the kind of thing that was asked for; true where no kind was. */
export function hasAskedKind(text: string, asks: Understood["asks"], asked: AskedTerms): boolean {
  switch (asks) {
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
 * What speaks for (below 0) and against (above 0) these units as the answer beside their passage's score, in parts of
 * the confidence: a title that is the question; a weighty word of the question that neither they nor the headings over
 * them have; no number where "how many" was asked.
 */
export function evidencePenalty(placed: readonly Placed[], question: Understood, asked: AskedTerms): number {
  const titles = [...new Set(placed.map(({ passage }) => passage.candidate.title))];
  const fit = Math.max(0, ...placed.map(({ passage }) => passage.fit));
  const held = union(...placed.map(({ titled }) => titled));
  let all = 0;
  let missing = 0;
  for (const [term, weight] of asked.weights) {
    all += weight;
    if (!held.has(term) && !isSoft(term)) missing = Math.max(missing, weight);
  }
  const share = all === 0 ? 0 : missing / all;
  const { counted } = question;
  const asksItself =
    fit >= sameQuestion && counted !== null && titles.some((title) => asked.termsOf(title).includes(counted));
  const said = placed
    // Three spaces are no answer to "how many members", unless the heading has asked that already.
    .filter(({ terms }) => counted === null || asksItself || terms.has(asked.askedBy(counted) ?? counted))
    .map(({ unit }) => unit.text);
  // A page on "Mini and Maxi compared" need not say again that it compares.
  const has = [...said, ...(question.asks === "difference" ? titles : [])].some((text) =>
    hasAskedKind(text, question.asks, asked),
  );
  // Who asks only how large that is, and hears of no size, hears once more what was said before.
  const asksOnlyThat = question.measured.length > 0 && question.asks !== "anything";
  const lacks = has ? 0 : asksOnlyThat ? lackingCost.amount : lackingCost[question.asks];
  // "How do I stop the server?" is of words so common that their weights prove nothing.
  const verbatim = placed.some(({ passage }) => passage.verbatim) ? verbatimBonus : 0;
  const bonus = verbatim + Math.max(titleBonus * fit ** 2, has && question.asks === "definition" ? definitionBonus : 0);
  return missingCost * Math.max(0, share - missingFree) * (1 - fit) + lacks - bonus;
}
