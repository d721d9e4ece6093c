import type { Question } from "#answering/contract.ts";
import type { KnowledgeIndex } from "#knowledge/index/contract.ts";
import type { WordLanguage } from "#language/detection.ts";
import { guessLanguages, wordLanguages } from "#language/detection.ts";
import { understand } from "./question.ts";
import type { Understood } from "./question.ts";
import type { Synonyms } from "#language/words/synonyms.ts";

/** Cost of a term that no passage has, relative to the gain of a known one. */
const unknownCost = 0.5;

/**
 * Interprets the question in its language. A few words can belong to more than one language ("Versand Ausland"): then
 * the language wins in which the documents have most of the terms.
 */
export async function interpretQuestion(
  index: KnowledgeIndex,
  lookup: Pick<Question, "workspaceId" | "text" | "history">,
  synonyms: Synonyms,
  signal: AbortSignal | undefined,
): Promise<Understood> {
  const interpretations = distinct(
    likelyLanguages(lookup).map((language) => understand(lookup.text, lookup.history, synonyms, language)),
  );
  const [first] = interpretations;
  if (first === undefined) throw new Error("a question has at least one interpretation");
  if (interpretations.length === 1) return first;
  const { frequency } = await index.search({
    workspaceId: lookup.workspaceId,
    terms: [...new Set(interpretations.flatMap(({ own }) => own))],
    audience: [],
    limit: 0,
    ...(signal === undefined ? {} : { signal }),
  });
  const worth = ({ own }: Understood): number =>
    own.reduce((sum, term) => sum + (frequency.has(term) ? 1 : -unknownCost), 0);
  const best = interpretations.reduce((before, each) => (worth(each) > worth(before) ? each : before), first);
  const isBest = best === first || !(await isWrittenIn(first.language, index, lookup.workspaceId, best.own, signal));
  return isBest ? best : first;
}

const sampleSize = 5;

/**
 * Whether all passages with these terms are in this language. The match in the other language is then a coincidence of
 * stems: the German stemmer turns "career" into "care".
 */
async function isWrittenIn(
  language: WordLanguage,
  index: KnowledgeIndex,
  workspaceId: string,
  terms: readonly string[],
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const { candidates } = await index.search({
    workspaceId,
    terms,
    audience: [],
    limit: sampleSize,
    ...(signal === undefined ? {} : { signal }),
  });
  const isIn = (text: string): boolean => {
    const { languages, sure } = guessLanguages(text);
    return sure && languages[0] === language;
  };
  return candidates.length > 0 && candidates.every(({ title, text }) => isIn(`${title}\n${text}`));
}

function likelyLanguages({ text, history }: Pick<Question, "text" | "history">): readonly WordLanguage[] {
  const alone = guessLanguages(text);
  if (alone.sure) return alone.languages.slice(0, 1);
  const before = history.filter(({ role }) => role === "user").map(({ content }) => content);
  const together = guessLanguages([...before, text].join("\n"));
  if (together.sure) return together.languages.slice(0, 1);
  // English first when the language is unknown.
  const all = alone.weak ? [...alone.languages, ...wordLanguages] : alone.languages;
  return [...new Set<WordLanguage>(all.includes("en") ? ["en", ...all] : all)];
}

function distinct(interpretations: readonly Understood[]): Understood[] {
  const seen = new Set<string>();
  return interpretations.filter(({ own, borrowed }) => {
    const key = JSON.stringify([own, borrowed]);
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}
