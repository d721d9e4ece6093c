import type { Question } from "#answering/contract.ts";
import type { KnowledgeIndex } from "#knowledge/index/contract.ts";
import type { WordLanguage } from "#language/detection.ts";
import { guessLanguages, wordLanguages } from "#language/detection.ts";
import { understand } from "./question.ts";
import type { Understood } from "./question.ts";
import type { Synonyms } from "./synonyms.ts";

/** What a term that no passage has speaks against its language, where a known one speaks for it. */
const unknownCost = 0.5;

/**
 * The question, read in its language. A few words can be of several ("Versand Ausland"): then it is the one in which
 * the documents have most of them.
 */
export async function interpretQuestion(
  index: KnowledgeIndex,
  lookup: Pick<Question, "workspaceId" | "text" | "history">,
  synonyms: Synonyms,
  signal: AbortSignal | undefined,
): Promise<Understood> {
  const readings = distinct(
    likely(lookup).map((language) => understand(lookup.text, lookup.history, synonyms, language)),
  );
  const [first] = readings;
  if (first === undefined) throw new Error("a question is read in one language at least");
  if (readings.length === 1) return first;
  const { frequency } = await index.search({
    workspaceId: lookup.workspaceId,
    terms: [...new Set(readings.flatMap(({ own }) => own))],
    audience: [],
    limit: 0,
    ...(signal === undefined ? {} : { signal }),
  });
  const worth = ({ own }: Understood): number =>
    own.reduce((sum, term) => sum + (frequency.has(term) ? 1 : -unknownCost), 0);
  const best = readings.reduce((before, each) => (worth(each) > worth(before) ? each : before), first);
  const isBest = best === first || !(await isWrittenIn(first.language, index, lookup.workspaceId, best.own, signal));
  return isBest ? best : first;
}

const looked = 5;

/**
 * Whether all passages with these terms are in this language: then they are stems that another language only seems to
 * share with it, as German makes "care" of "career".
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
    limit: looked,
    ...(signal === undefined ? {} : { signal }),
  });
  const isIn = (text: string): boolean => {
    const { languages, sure } = guessLanguages(text);
    return sure && languages[0] === language;
  };
  return candidates.length > 0 && candidates.every(({ title, text }) => isIn(`${title}\n${text}`));
}

function likely({ text, history }: Pick<Question, "text" | "history">): readonly WordLanguage[] {
  const alone = guessLanguages(text);
  if (alone.sure) return alone.languages.slice(0, 1);
  const before = history.filter(({ role }) => role === "user").map(({ content }) => content);
  const together = guessLanguages([...before, text].join("\n"));
  if (together.sure) return together.languages.slice(0, 1);
  // English first where nothing tells.
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
