import type { Question } from "#answering/contract.ts";
import type { Candidate, KnowledgeIndex } from "#knowledge/index/contract.ts";
import type { WordLanguage } from "#language/detection.ts";
import { guessLanguages, wordLanguages } from "#language/detection.ts";
import { locales } from "#language/locales.ts";
import { termsOf } from "#language/words/terms.ts";

const sampleSize = 5;

type SampleScope = Pick<Question, "workspaceId" | "audience" | "documentIds">;

/**
 * Samples passages to detect the documents' language, for a question in `language` that found none. Prefers passages in
 * that language, then English, then any other.
 */
export async function somePassages(
  index: KnowledgeIndex,
  { workspaceId, audience, documentIds }: SampleScope,
  language: WordLanguage,
  signal: AbortSignal,
): Promise<readonly Candidate[]> {
  const others = wordLanguages.filter((each) => each !== language && each !== "en");
  for (const languages of [[language], ["en" as const], others]) {
    const { candidates } = await index.search({
      workspaceId,
      audience,
      ...(documentIds === undefined ? {} : { documentIds }),
      terms: [...new Set(languages.flatMap((each) => termsOf(locales[each].documentWords, each)))],
      limit: sampleSize,
      signal,
    });
    const read = candidates.filter(({ title, text }) => {
      const guess = guessLanguages(`${title}\n${text}`);
      return guess.sure && languages.some((each) => guess.languages[0] === each);
    });
    if (read.length > 0) return read;
  }
  return [];
}
