import type { Question } from "./contract.ts";
import type { Found } from "./rank/search-further.ts";
import { escapeMarkdown } from "./extract/render-units.ts";
import { cannedTextFor } from "./understand/asker-language.ts";

const suggestionsMax = 3;
/**
 * Nearness from which a passage is suggested, by words alone and by words and meaning. Measured by bench:answers: nine of
 * ten refusals of answerable questions reach it, seven of ten suggest the right document, and two of thirteen questions
 * about something else get suggestions.
 */
const suggestedFrom = { words: 0.12, meaning: 0.25 };
const similarityShare = 0.5;

interface NearPassage extends Found {
  /** Near enough to be suggested. */
  readonly isNear: boolean;
}

/** The passages of a refusal, nearest first: the best answer to a question is not always the nearest to its subject. */
export function nearestOf(found: readonly Found[]): readonly NearPassage[] {
  const near = found.map((each) => {
    const { passage, by } = each;
    const words = by.confidenceOfScore(passage.score);
    if (!by.comparesMeaning) return { ...each, nearness: words, isNear: words >= suggestedFrom.words };
    const nearness = words + similarityShare * Math.max(0, passage.candidate.similarity ?? 0);
    return { ...each, nearness, isNear: nearness >= suggestedFrom.meaning };
  });
  if (!found.every(({ by }) => by.comparesMeaning)) return near;
  return near.toSorted((left, right) => right.nearness - left.nearness);
}

/** Asks which of the titles is meant, by numbers that every channel can reply with. Empty where nothing is near. */
export function suggestionTexts(question: Question, titles: readonly string[]): readonly string[] {
  const suggested = [...new Set(titles.map(shownTitle))].slice(0, suggestionsMax);
  if (suggested.length === 0) return [];
  return [cannedTextFor(question, "did_you_mean"), suggested.map(suggestionLine).join("\n")];
}

/** The place of a title among the suggestions of this refusal, from 0. Undefined: it is none of them. */
export function placeIn(refusal: string, title: string): number | undefined {
  const lines = refusal.split("\n");
  return Array.from({ length: suggestionsMax }, (_, at) => at).find((at) =>
    lines.includes(suggestionLine(shownTitle(title), at)),
  );
}

const suggestionLine = (shown: string, at: number): string => `${at + 1}. ${escapeMarkdown(shown)}`;

/** A heading that is a question says enough; others need their document's title. */
export function shownTitle(title: string): string {
  const heading = title.split(" › ").at(-1) ?? title;
  return isQuestion(heading) ? heading : title;
}

export const isQuestion = (heading: string): boolean => /[?？؟]$/u.test(heading);
