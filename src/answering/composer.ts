import type { Source } from "#domain/conversation/message.ts";
import type { Answer, Lookup, Question } from "./contract.ts";
import type { Candidate } from "#knowledge/index/contract.ts";
import type { Composed } from "./extract/compose.ts";
import type { Found } from "./retrieve/retrieve.ts";
import type { Ranked } from "./rank/ranking.ts";
import { guessLanguages } from "#language/detection.ts";
import { languageToldBy, saidTo } from "./understand/asker-language.ts";

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
/** So many passages tell the language of the documents; one can be a table. */
const nearestRead = 5;
export const uncertainPreface = (question: Question): string => `${saidTo(question, "uncertain")}\n\n`;
export const searched: Pick<Answer, "skillsFired" | "tokensUsed"> = {
  skillsFired: ["knowledge_search"],
  tokensUsed: 0,
};

/** Says that the documents hold no answer, with what came nearest; `others` tell their language where nothing did. */
export function unknownAnswer(question: Question, found: Found, others: readonly Candidate[] = []): Answer {
  return {
    ...searched,
    text: [saidTo(question, "unknown"), ...inAnotherLanguage(question, found, others)].join("\n\n"),
    sources: found.ranked.slice(0, Math.min(sourcesMax, question.topK)).map((passage) => sourceOf(passage, found)),
    confidence: "low",
    answered: false,
  };
}

/** Where the nearest passages are in another language than the question: that is why little is found. */
function inAnotherLanguage(question: Question, { ranked }: Found, others: readonly Candidate[]): readonly string[] {
  const asked = languageToldBy(question);
  const read = ranked.length > 0 ? ranked.map(({ candidate }) => candidate) : others;
  if (asked === undefined || read.length === 0) return [];
  const nearest = read.slice(0, nearestRead).map((each) => `${each.title}\n${each.text}`);
  const { sure, languages } = guessLanguages(nearest.join("\n"));
  const [written] = languages;
  if (!sure || written === undefined || written === asked) return [];
  const name = new Intl.DisplayNames(asked, { type: "language" }).of(written) ?? written;
  return [saidTo(question, "unknown_language").replaceAll("{language}", () => name)];
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
