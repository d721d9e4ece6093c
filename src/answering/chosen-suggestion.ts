import type { KnowledgeIndex } from "#knowledge/index/contract.ts";
import { readUnits } from "#knowledge/documents/chunk-text.ts";
import { searched, sourceOf } from "./composer.ts";
import type { Answer, PastMessage, Question } from "./contract.ts";
import { renderUnits } from "./extract/render-units.ts";
import { pastPassage } from "./retrieve/past-passage.ts";
import { isQuestion, placeIn, shownTitle } from "./suggestions.ts";

/**
 * The answer to a message that is the number or the title of a suggestion: its passage. A title that is a question is
 * answered as one. A passage that has changed since is searched for by its title: `question` is then that. Undefined for
 * other messages.
 */
export async function answerToChoice(
  index: KnowledgeIndex,
  question: Question,
  signal: AbortSignal,
): Promise<{ readonly answer?: Answer; readonly question?: Question } | undefined> {
  const at = question.history.findLastIndex(({ role }) => role !== "user");
  const source = chosenIn(question.text, question.history[at]);
  if (source === undefined) return undefined;
  const past = await pastPassage(index, question, at, source, signal);
  if (past === undefined) return { question: { ...question, text: shownTitle(source.title) } };
  const { found, passage } = past;
  const text = renderUnits(readUnits(passage.candidate.text).map((unit) => ({ unit, passage })));
  return {
    answer: { ...searched, text, sources: [sourceOf(passage, found)], confidence: "medium", answered: true },
  };
}

function chosenIn(
  text: string,
  said: PastMessage | undefined,
): NonNullable<PastMessage["sources"]>[number] | undefined {
  if (said?.isRefusal !== true) return undefined;
  const choice = text.normalize("NFKC").trim();
  const number = /^[(#]?([1-3])[.)]?$/u.exec(choice)?.[1];
  return said.sources?.find(({ title }) => {
    const at = placeIn(said.content, title);
    const isNamed = !isQuestion(choice) && shownTitle(title).normalize("NFKC") === choice;
    return at !== undefined && (isNamed || number === String(at + 1));
  });
}
