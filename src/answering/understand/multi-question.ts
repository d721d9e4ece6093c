import type { Question } from "#answering/contract.ts";
import type { KnowledgeIndex } from "#knowledge/index/contract.ts";
import { wantsSomething } from "./asked-sentences.ts";
import type { Composed } from "#answering/extract/compose.ts";
import { cannedTextFor } from "./asker-language.ts";
import { answerFloor, belowHigh } from "#answering/rank/confidence.ts";
import type { JudgeRequest, Judged } from "#answering/rank/judge.ts";
import { evidenceOf, judge } from "#answering/rank/judge.ts";
import { phrasesOfAllLocales, wordsOfAllLocales } from "#language/locales.ts";
import { nextQuestion } from "./next-question.ts";
import { escapeMarkdown } from "#answering/extract/render-units.ts";
import { isSoft } from "#language/words/terms.ts";
import { runsOf, isUnspaced } from "#language/words/runs.ts";

const partsMax = 3;
/** Longer texts are not split: their parts depend on each other. */
const textMax = 600;
/** How many words from the start the question word may be: "And also, how …". */
const beforeAsking = 3;

const asking = new Set([
  ..."how what whats when where who why which can could does did do is are will would should may".split(" "),
  ...wordsOfAllLocales(({ questions }) => questions.asks),
]);
/** Matches comparisons, whose parts must stay together. */
const together = /\b(?:between|both|differences?|differ|compared?|versus|vs|whether)\b/iu;
const beginning = new RegExp(
  String.raw`^[\s,;]*(?:(?:and|plus|also|${phrasesOfAllLocales(({ questions }) => questions.and)})\s+)?`,
  "iu",
);

/** Splits a message into its questions, in order. Returns the message itself when it has one question. */
export function questionsIn(text: string): readonly string[] {
  if (text.length > textMax || together.test(text)) return [text];
  const parts: string[] = [];
  for (const sentence of text.split(/(?<=[?？؟])\s*(?=[^\s?？؟!.])/u)) {
    for (const part of sentence.split(nextQuestion)) {
      if (parts.length > 0 && (parts.length === partsMax || !asksSomething(part))) parts.push(`${parts.pop()} ${part}`);
      else parts.push(part);
    }
  }
  const [first = ""] = parts;
  return parts.length < 2 || !(asksSomething(first, Number.POSITIVE_INFINITY) || wantsSomething(first))
    ? [text]
    : parts;
}

function asksSomething(part: string, reach = beforeAsking): boolean {
  const words = runsOf(part.toLowerCase()).map((word) => word.replace(/['’]s$/u, ""));
  if (words.length === 1 && isUnspaced(part)) return true;
  return words.length > 1 && words.slice(0, reach).some((word) => asking.has(word));
}

/**
 * Judges each question of a message with more than one. Earlier questions are the history of the later ones. The answer
 * names the questions that stay open. Returns undefined when the message is to be judged as a whole.
 */
export async function judgeMultiQuestion(
  index: KnowledgeIndex,
  question: JudgeRequest & Pick<Question, "strictness" | "settings">,
  whole: Judged,
  signal: AbortSignal,
): Promise<Judged | undefined> {
  const parts = question.topK < 2 ? [question.text] : questionsIn(question.text);
  if (parts.length < 2) return undefined;
  const floor = answerFloor[question.strictness];
  const judged: { readonly part: string; readonly judged: Judged; readonly extract: Composed | undefined }[] = [];
  let history = question.history;
  for (const each of parts) {
    const part = each.replace(beginning, "");
    const found = await judge(index, { ...question, text: part, history }, signal);
    const knownOf = (of: Judged): Composed | undefined => (evidenceOf(of) >= floor ? of.extract : undefined);
    const isSaid = (of: Judged): boolean =>
      judged.some(({ extract }) => extract !== undefined && extract.text === knownOf(of)?.text);
    // "And how long do I have for that?" asks for nothing without the question before it, which has the answer already.
    const isWhole = found.found.question.own.some((term) => !isSoft(term));
    const other =
      isSaid(found) && isWhole ? await judge(index, { ...question, text: part, history: [] }, signal) : found;
    const known = knownOf(other);
    if ((known !== undefined || asksForSomething(other)) && !isSaid(other))
      judged.push({ part, judged: other, extract: known });
    history = [...history, { role: "user", content: part }];
  }
  const known = judged.flatMap(({ extract }) => (extract === undefined ? [] : [extract]));
  if (judged.length < 2 || known.length === 0) return undefined;
  const least = Math.min(...known.map(({ evidence }) => evidence));
  const unknown = cannedTextFor(question, "unknown");
  return {
    found: { ...whole.found, ranked: interleaved(judged.map((each) => each.judged.found.ranked)) },
    extract: {
      text: judged.map(({ part, extract }) => `**${headingFor(part)}**\n\n${extract?.text ?? unknown}`).join("\n\n"),
      used: [...new Map(known.flatMap(({ used }) => used).map((each) => [each.candidate.chunkId, each])).values()],
      units: known.flatMap(({ units }) => units),
      evidence: known.length < judged.length ? Math.min(least, belowHigh) : least,
    },
  };
}

/** False for questions without content such as "Can you help?" and "…, right?". */
function asksForSomething({ found }: Judged): boolean {
  return found.question.borrowed.length > 0 || found.question.own.some((term) => !isSoft(term));
}

/** Formats the question as a heading. */
function headingFor(part: string): string {
  const bare = part.replace(/[\s?？؟.,;!]+$/u, "");
  const text = bare === "" ? part.trim() : `${bare.charAt(0).toUpperCase()}${bare.slice(1)}`;
  return escapeMarkdown(`${text.replaceAll(/\s+/gu, " ")}${isUnspaced(text) ? "？" : "?"}`);
}

/** Interleaves ranked lists: the best of each, then the second of each. Duplicates are dropped. */
function interleaved<T extends { readonly candidate: { readonly chunkId: string } }>(
  lists: readonly (readonly T[])[],
): T[] {
  const all = new Map<string, T>();
  const longest = Math.max(0, ...lists.map(({ length }) => length));
  for (let rank = 0; rank < longest; rank += 1)
    for (const list of lists) {
      const each = list[rank];
      if (each !== undefined && !all.has(each.candidate.chunkId)) all.set(each.candidate.chunkId, each);
    }
  return [...all.values()];
}
