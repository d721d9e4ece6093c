import { splitSentences } from "#language/words/sentences.ts";
import { phrasesOfAllLocales, wordsOfAllLocales } from "#language/locales.ts";
import { nextQuestion } from "./next-question.ts";
import { runsOf } from "#language/words/runs.ts";

/** A message split into its questions and the statements around them. */
export interface SplitMessage {
  /** The asking sentences, in order. */
  readonly asked: string;
  /** The statements next to them, which often name their subject. */
  readonly context: string;
}

/** Only the end of longer messages is read: e-mails ask there. */
const messageMax = 8_000;
/** A line from this length on may be hard-wrapped, with its sentence continued on the next line. */
const wrappedFrom = 60;
const askedMax = 3;
const contextMax = 2;
/** A shorter sentence is a greeting or a name. */
const contextWordsMin = 3;

const conjunction = `(?:${wordsOfAllLocales(({ questions }) => questions.opens).join("|")})`;
const subject =
  "(?:i|we|you|u|it|they|there|this|that|these|those|the|my|our|your|a|an|he|she|one|each|every|any|anyone|anybody|someone|somebody|people|customers|users|agents)";
const auxiliary = "(?:can|could|do|does|did|is|are|was|will|would|should|may|must|has|have)";
const own = "(?:i|we)(?: also| still| just)?";
const other = wordsOfAllLocales(({ questions }) => questions.asks).join("|");
const begins = (what: string): RegExp =>
  new RegExp(`^\\W*(?:${conjunction}[\\s,!]+){0,2}(?:${what})(?![\\p{L}\\p{N}])`, "iu");
const question = begins(
  `how|what(?:'?s)?|which|who|why|where|when ${auxiliary}|${auxiliary} ${subject}|any(?:one|body) know|(?!do |is |are |can |y |e |en )(?:${other})`,
);
const request = begins(
  `(?:${own} (?:need|want|would like|wish|have|am trying|try)|i'?d like|we'?d like|i'?m trying|we'?re trying|trying) to|please (?!help)|looking for|(?:tell|show|explain) (?:me|us)`,
);

/** True for a request without a question: "I need to change the port". */
export const wantsSomething = (text: string): boolean => request.test(text);

const wh = "(?:how|what|whats|where|when|why|which|who|whether|if)";
const asksFor =
  "(?:ask(?:s|ed|ing)?|know|tell|wonder(?:s|ed|ing)?|explain|find out|understand|figure out|clear|idea|question(?: is)?|unsure|sure|curious|thing|say|check)";
/** Matches the introduction of an indirect question: "My boss wants to know what …", "could you tell me how …". */
const indirect = new RegExp(
  [
    String.raw`^[^:?]*:\s+(?=${wh}\b)`,
    String.raw`^.*?\b${asksFor}\b(?:,? (?:me|us|you|about|of|to|now|is|please|still|exactly)){0,3}[,:]?\s+(?=${wh}\b)`,
    String.raw`^.*?(?<!\p{L})(?:${phrasesOfAllLocales(({ questions }) => questions.tells)}),?\s+(?=(?:${phrasesOfAllLocales(({ questions }) => questions.indirect)})(?!\p{L}))`,
  ].join("|"),
  "isu",
);
const whether = new RegExp(String.raw`^(?:${phrasesOfAllLocales(({ questions }) => questions.whether)})\s+`, "iu");
const indirectMax = 400;

const asksWhetherToTell = begins(
  "(?:can|could|would|will|do|does|may) (?:you|u|i ask|anyone|anybody|someone|somebody)",
);

/** Removes the introduction of an indirect question, and the "whether" or "if" that it leaves. */
function direct(sentence: string): string {
  if (sentence.length > indirectMax) return sentence;
  const rest = sentence.replace(indirect, "");
  return rest === sentence ? sentence : rest.replace(whether, "");
}

function sentencesOf(text: string): string[] {
  const lines: string[] = [];
  let before = "";
  for (const line of text.split("\n").map((each) => each.trim())) {
    const goesOn = before.length >= wrappedFrom && line !== "" && !/[.!?…:;,]$/u.test(before);
    const comma = before.length >= wrappedFrom && before.endsWith(",");
    if ((goesOn || comma) && lines.length > 0) lines.push(`${lines.pop()} ${line}`);
    else if (line !== "") lines.push(line);
    before = line;
  }
  return lines.flatMap((line) => splitSentences(line)).flatMap((sentence) => sentence.split(sentenceEnd));
}

/** Matches the end of a sentence before a lower-case letter. */
const sentenceEnd = /(?<=\p{L}{3}[.!?]+)\s+(?=\p{Ll})/u;
const asksAfterComma = new RegExp(`^(?:how|what|why|where|which|who|${auxiliary} ${subject})(?![\\p{L}\\p{N}])`, "iu");

const questionMarks = ["?", "？", "؟"];

/** True when only punctuation follows the last question mark. Scans from the end: a regular expression is quadratic on hostile text. */
function endsAsking(text: string): boolean {
  for (let at = text.length - 1; at >= 0; at -= 1) {
    const sign = text.charAt(at);
    if (questionMarks.includes(sign)) return true;
    if (/[\p{L}\p{N}]/u.test(sign)) return false;
  }
  return false;
}

/** Splits "I am stuck, what is wrong?" at the commas after which a question begins. */
function afterComma(sentence: string): string[] {
  if (!endsAsking(sentence)) return [sentence];
  const end = Math.max(...questionMarks.map((mark) => sentence.lastIndexOf(mark)));
  const lastComma = sentence.lastIndexOf(",", end);
  const parts: string[] = [];
  let from = 0;
  for (const { index, 0: sign } of sentence.matchAll(/[,;]\s+/gu)) {
    const next = index + sign.length;
    if (index < lastComma || !asksAfterComma.test(sentence.slice(next))) continue;
    parts.push(sentence.slice(from, index));
    from = next;
  }
  return [...parts, sentence.slice(from)];
}

/** In order of preference: the first kind that occurs in a message is taken as its question. */
const kinds = ["asks", "mentions", "wants", "tells"] as const;

interface Clause {
  readonly text: string;
  readonly kind: (typeof kinds)[number];
}

/** Matches the start of a reason ("…, since our last one was lost"), which is not part of the question. */
const reasons = "(?:since|because|cause|coz|weil|da|car|parce|puisque|porque|ya que)(?!\\p{L})";
const reason = new RegExp(`,\\s+(?=${reasons})`, "iu");
const givesReason = new RegExp(`^${reasons}`, "iu");

/** Splits a sentence into clauses and classifies each. */
function clausesOf(sentence: string): Clause[] {
  const parts = sentence
    .split(nextQuestion)
    .flatMap((part) => afterComma(part))
    .flatMap((part) => part.split(reason));
  return parts.map((part, at) => {
    const ends = at === parts.length - 1 && endsAsking(part) && (at === 0 || !givesReason.test(part));
    // "Who context her what …?" asks who; "can you tell me what …?" asks what.
    const inner = question.test(part) && !asksWhetherToTell.test(part) ? part : direct(part);
    if (ends || question.test(part)) return { text: inner, kind: "asks" };
    if (inner !== part) return { text: inner, kind: "mentions" };
    return { text: part, kind: request.test(part) ? "wants" : "tells" };
  });
}

/** False for a message of statements. */
export const asksSomething = (message: string): boolean =>
  sentencesOf(message.slice(-messageMax))
    .flatMap((sentence) => clausesOf(sentence))
    .some(({ kind }) => kind !== "tells");

/**
 * Separates the questions of a message from its statements: a story before the question, an e-mail around it, "my boss
 * wants to know …". Returns undefined when the whole message asks, or nothing does.
 */
export function splitMessage(message: string): SplitMessage | undefined {
  const text = message.slice(-messageMax).replaceAll(/[^\S\n]+/gu, " ");
  const clauses = sentencesOf(text).flatMap((sentence) => clausesOf(sentence));
  const kind = kinds.find((each) => clauses.some((clause) => clause.kind === each)) ?? "tells";
  if (kind === "tells") return undefined;
  // "I need to change the port, also where …" wants two things.
  const isAsked = (clause: Clause, at: number): boolean =>
    clause.kind === kind || (clause.kind === "wants" && clauses.length === 2 && clauses[at + 1]?.kind === "asks");
  const places = clauses.flatMap((clause, at) => (isAsked(clause, at) ? [at] : []));
  // E-mails mention much before their point: take the last indirect question only.
  const asked = kind === "asks" ? places.slice(-askedMax) : places.slice(-1);
  const [first] = asked;
  const last = asked.at(-1);
  if (first === undefined || last === undefined) return undefined;
  const joined = asked.map((at) => clauses[at]?.text ?? "").join(" ");
  if (runsOf(joined).length === runsOf(text).length) return undefined;
  const tells = (from: number, to: number): string[] =>
    clauses
      .slice(from, to)
      .filter((clause, at) => !asked.includes(from + at) && runsOf(clause.text).length >= contextWordsMin)
      .map((each) => each.text);
  const context = [...tells(0, first).slice(-contextMax), ...tells(first, last), ...tells(last + 1, last + 2)];
  return { asked: joined, context: context.join(" ") };
}
