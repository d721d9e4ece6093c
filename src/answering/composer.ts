import type { Source } from "#domain/conversation/message.ts";
import type { Answer, Lookup, Question } from "./contract.ts";
import type { Candidate } from "#knowledge/index/contract.ts";
import type { Composed } from "./extract/compose.ts";
import type { Retrieval } from "./retrieve/retrieve.ts";
import type { Ranked } from "./rank/ranked.ts";
import type { Found } from "./rank/search-further.ts";
import { guessLanguages } from "#language/detection.ts";
import { nearestOf, suggestionTexts } from "./suggestions.ts";
import { languageOfText, cannedTextFor } from "./understand/asker-language.ts";

/** A question with the search result to answer it from. */
export interface ComposeRequest {
  readonly question: Question;
  readonly found: Retrieval;
  /**
   * The answer in the documents' own sentences, with its evidence. Undefined when they cover too little, and the answer
   * is in the lookups of skills or in `read`.
   */
  readonly extract: Composed | undefined;
  /** Passages for a language model, of further searches or chosen by a reranker. Absent: those of `found`. */
  readonly read?: readonly Found[];
  /** For searches and the choice of passages. */
  readonly spentMs: number;
}

/** Writes the answer from the passages that were chosen. */
export interface Composer {
  compose(judged: ComposeRequest, signal: AbortSignal): Promise<Answer>;
}

export const sourcesMax = 5;
/** How many passages are read to detect the documents' language. More than one, since one can be a table. */
const nearestRead = 5;
export const uncertainPreface = (question: Question): string => `${cannedTextFor(question, "uncertain")}\n\n`;
export const searched: Pick<Answer, "skillsFired" | "tokensUsed"> = {
  skillsFired: ["knowledge_search"],
  tokensUsed: 0,
};

/**
 * Says that the documents have no answer, and names the nearest passages: those of `read`, or else of `found`. `others` is
 * a sample for language detection.
 */
export function unknownAnswer(
  { question, found, read }: Omit<ComposeRequest, "extract" | "spentMs">,
  others: readonly Candidate[] = [],
): Answer {
  const nearest = nearestOf(read ?? found.ranked.map((passage) => ({ passage, by: found })));
  const shown = nearest.slice(0, Math.min(sourcesMax, question.topK));
  const suggested = shown.filter(({ isNear }) => isNear).map(({ passage }) => passage.candidate.title);
  return {
    ...searched,
    text: [
      cannedTextFor(question, "unknown"),
      ...inAnotherLanguage(question, found, others),
      ...suggestionTexts(question, suggested),
    ].join("\n\n"),
    sources: shown.map(({ passage, by }) => sourceOf(passage, by)),
    confidence: "low",
    answered: false,
  };
}

/** A hint for a question that found little because the documents are in another language. */
function inAnotherLanguage(question: Question, { ranked }: Retrieval, others: readonly Candidate[]): readonly string[] {
  const asked = languageOfText(question);
  const read = ranked.length > 0 ? ranked.map(({ candidate }) => candidate) : others;
  if (asked === undefined || read.length === 0) return [];
  const nearest = read.slice(0, nearestRead).map((each) => `${each.title}\n${each.text}`);
  const { sure, languages } = guessLanguages(nearest.join("\n"));
  const [written] = languages;
  if (!sure || written === undefined || written === asked) return [];
  const name = new Intl.DisplayNames(asked, { type: "language" }).of(written) ?? written;
  return [cannedTextFor(question, "unknown_language").replaceAll("{language}", () => name)];
}

export function lookupSource({ title, text }: Lookup): Source {
  return { title, url: "", chunk: text, score: 1 };
}

export function sourceOf({ candidate, score }: Ranked, found: Retrieval): Source {
  const share = Math.round(found.confidenceOfScore(score) * 10_000) / 10_000;
  return { title: candidate.title, url: candidate.url ?? "", chunk: candidate.text, score: share };
}

/** Answers from lookups, in the words of the skills' templates. */
export function answerFromLookups(lookups: readonly Lookup[]): Answer {
  return {
    text: lookups.map(({ message }) => message).join("\n\n"),
    sources: lookups.slice(0, sourcesMax).map(lookupSource),
    confidence: "high",
    answered: true,
    skillsFired: [],
    tokensUsed: 0,
  };
}
