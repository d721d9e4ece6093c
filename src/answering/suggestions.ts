import type { Source } from "#domain/conversation/message.ts";
import type { Question } from "./contract.ts";
import { escapeMarkdown } from "./extract/render-units.ts";
import { cannedTextFor } from "./understand/asker-language.ts";

const suggestionsMax = 3;
/** Measured by bench:answers: three in four refusals of answerable questions reach it, and name the right document. */
const suggestedFrom = 0.12;

export type Suggested = Pick<Source, "title" | "chunk" | "score">;

/** The nearest passages of a refusal, one of each title. */
export function suggestedIn(sources: readonly Suggested[]): readonly Suggested[] {
  const near = sources.filter(({ score }) => score >= suggestedFrom);
  return near.filter(({ title }, at) => near.findIndex((each) => each.title === title) === at).slice(0, suggestionsMax);
}

/** Asks which of the titles is meant, by numbers that every channel can reply with. Empty where nothing is near. */
export function suggestionTexts(question: Question, sources: readonly Suggested[]): readonly string[] {
  const suggested = suggestedIn(sources);
  if (suggested.length === 0) return [];
  const titles = suggested.map(({ title }, at) => `${at + 1}. ${escapeMarkdown(shownTitle(title))}`);
  return [cannedTextFor(question, "did_you_mean"), titles.join("\n")];
}

/** A heading that is a question says enough; others need their document's title. */
export function shownTitle(title: string): string {
  const heading = title.split(" › ").at(-1) ?? title;
  return isQuestion(heading) ? heading : title;
}

export const isQuestion = (heading: string): boolean => /[?？؟]$/u.test(heading);
