import type { Source } from "#domain/message.ts";
import type { Answer, Lookup, Question } from "#engine/ports.ts";
import type { Composed } from "./compose.ts";
import type { Found } from "./retrieve.ts";
import type { Ranked } from "./ranking.ts";
import { saidTo } from "./spoken-language.ts";

/** A question for which the documents hold enough. */
export interface Judged {
  readonly question: Question;
  readonly found: Found;
  /**
   * What the documents' own sentences answer, and how sure one can be of it; undefined where they hold too little and
   * the answer is in what was looked up elsewhere.
   */
  readonly extract: Composed | undefined;
}

/** Puts the answer into words. That there is one, and from which passages, is decided before. */
export interface Composer {
  compose(judged: Judged, signal: AbortSignal): Promise<Answer>;
}

export const sourcesMax = 5;
export const uncertainPreface = (question: Question): string => `${saidTo(question, "uncertain")}\n\n`;
export const searched: Pick<Answer, "skillsFired" | "tokensUsed"> = {
  skillsFired: ["knowledge_search"],
  tokensUsed: 0,
};

/** Says that the documents hold no answer, with what came nearest. */
export function unknownAnswer(question: Question, found: Found): Answer {
  return {
    ...searched,
    text: saidTo(question, "unknown"),
    sources: found.ranked.slice(0, Math.min(sourcesMax, question.topK)).map((passage) => sourceOf(passage, found)),
    confidence: "low",
    answered: false,
  };
}

export function lookupSource({ title, text }: Lookup): Source {
  return { title, url: "", chunk: text, score: 1 };
}

export function sourceOf({ candidate, score }: Ranked, found: Found): Source {
  const share = Math.round(found.confidenceOfScore(score) * 10_000) / 10_000;
  return { title: candidate.title, url: candidate.url ?? "", chunk: candidate.text, score: share };
}

/** In the words of the skills' own templates. */
export function toldByLookups(lookups: readonly Lookup[]): Answer {
  return {
    text: lookups.map(({ told }) => told).join("\n\n"),
    sources: lookups.slice(0, sourcesMax).map(lookupSource),
    confidence: "high",
    answered: true,
    skillsFired: [],
    tokensUsed: 0,
  };
}
