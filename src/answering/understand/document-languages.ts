import type { Question } from "#answering/contract.ts";
import type { Candidate, KnowledgeIndex } from "#knowledge/index/contract.ts";
import type { WordLanguage } from "#language/detection.ts";
import { guessLanguages, wordLanguages } from "#language/detection.ts";
import { termsOf } from "#language/terms.ts";

/** Words that almost every customer document contains, per language. */
const common: Readonly<Record<WordLanguage, string>> = {
  en: "use add need new page open",
  de: "klicken nutzen Seite Daten öffnen neu",
  fr: "utiliser cliquer page données ouvrir nouveau",
  es: "usar clic página datos abrir nuevo",
  it: "usare clic pagina dati aprire nuovo",
  pt: "usar clique página dados abrir novo",
  nl: "gebruiken klik pagina gegevens openen nieuw",
  sv: "använda klicka sida uppgifter öppna ny",
  da: "bruge klik side oplysninger åbne ny",
  nb: "bruke klikk side opplysninger åpne ny",
  fi: "käyttää napsauta sivu tiedot avata uusi",
  ru: "использовать нажмите страница данные открыть новый",
};
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
      terms: [...new Set(languages.flatMap((each) => termsOf(common[each], each)))],
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
