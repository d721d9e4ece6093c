import type { WorkspaceSettings } from "#domain/workspace/settings.ts";
import type { Question } from "#answering/contract.ts";
import type { KnowledgeIndex, SearchRequest, SearchResult } from "#knowledge/index/contract.ts";
import { isSpelt } from "#language/spelling.ts";
import type { AskedTerms } from "#answering/understand/asked-terms.ts";
import { weighTerms, withSynonyms } from "#answering/understand/asked-terms.ts";
import { confidenceOf } from "#answering/rank/confidence.ts";
import { stripPreamble } from "#answering/understand/preamble.ts";
import { maskPersonalData } from "#answering/generate/personal-data.ts";
import { interpretQuestion } from "#answering/understand/interpretations.ts";
import type { Understood } from "#answering/understand/question.ts";
import type { Ranked } from "#answering/rank/ranking.ts";
import { rank } from "#answering/rank/ranking.ts";
import { withStopWordsRight } from "#answering/understand/typos.ts";
import type { Synonyms } from "#answering/understand/synonyms.ts";
import { synonymsOf } from "#answering/understand/synonyms.ts";
import { isSoft, termsOf } from "#language/terms.ts";

const candidatesMax = 50;
/** What the customer asked before counts less than what they ask now. */
const borrowedShare = 0.5;
/** All that is told beside a question weighs at most so much of what is asked. */
const toldShare = 0.5;
const toldTermsMax = 12;
/** A story has words that no document needs: so much each of them counts where the story is all there is. */
const unknownShare = 0.35;

export interface Found {
  readonly question: Understood;
  /** The question's own terms and the borrowed ones. */
  readonly asked: AskedTerms;
  /** Best first. */
  readonly ranked: readonly Ranked[];
  /** Of the best passage, 0 to 1. */
  readonly confidence: number;
  /** The documents have passages that the index has never had: that nothing is found says little. */
  readonly partial: boolean;
  /** That of any passage, by its score. */
  confidenceOfScore(score: number): number;
  /** The same without one of the borrowed terms. */
  without(term: string): Found;
  /** The same by the words that it asks how much with. */
  asMeasured(): Found;
}

export interface Lookup extends Pick<Question, "workspaceId" | "text" | "history" | "documentIds" | "audience"> {
  readonly settings?: Pick<WorkspaceSettings, "synonyms">;
  /** What the message tells beside its question. What the documents know nothing of counts for nothing. */
  readonly told?: string;
}

/** What is asked, for a server that tells what it means. */
function withoutPersonalData(text: string): string {
  // Nobody reads it back: of the same question the same is made each time, so that it is looked up once.
  let count = 0;
  const next = (): string => {
    count += 1;
    return String(count).padStart(6, "0");
  };
  return maskPersonalData([text], next).texts[0] ?? "";
}

/** Finds and ranks passages for a question. */
export async function retrieve(
  index: KnowledgeIndex,
  lookup: Lookup,
  signal?: AbortSignal,
  mayBeTypos = true,
): Promise<Found> {
  const synonyms = synonymsOf(lookup.settings?.synonyms);
  const text = stripPreamble(lookup.text);
  const question = await interpretQuestion(index, { ...lookup, text }, synonyms, signal);
  const terms = [...question.own, ...question.borrowed];
  const told = toldTerms(lookup.told, question, synonyms);
  const request: SearchRequest = {
    workspaceId: lookup.workspaceId,
    terms: withSynonyms([...terms, ...told, ...question.measured], synonyms),
    audience: lookup.audience,
    limit: candidatesMax,
    text: () => withoutPersonalData(text),
    // A name or an address is no misspelt word, however near it is to one.
    misspelt: question.words.filter(
      ({ word, term }) =>
        isSpelt(word) && synonyms.groupOf(term).length === 0 && !question.details.some((each) => each.includes(term)),
    ),
    ...(lookup.documentIds === undefined ? {} : { documentIds: lookup.documentIds }),
    ...(signal === undefined ? {} : { signal }),
  };
  let result = await index.search(request);
  const right = mayBeTypos ? rightlyWritten(text, question, result) : text;
  if (right !== text) return retrieve(index, { ...lookup, text: right }, signal, false);
  // What a misspelt word was meant for can have synonyms of its own.
  const meant = [...(result.repaired?.values() ?? [])].flat();
  const more = withSynonyms(meant, synonyms).filter((term) => !meant.includes(term) && !request.terms.includes(term));
  if (more.length > 0) result = await index.search({ ...request, terms: [...request.terms, ...more] });
  // What a customer says of themselves, and the documents do not know, is not what they ask for.
  const beside = new Set(
    question.details.filter((detail) => detail.some((term) => (result.frequency.get(term) ?? 0) === 0)).flat(),
  );
  const wanted = terms.filter((term) => !beside.has(term));
  const isKnown = (term: string): boolean => (result.frequency.get(term) ?? 0) > 0;
  const isAsked = question.own.some((term) => !isSoft(term));
  const beyond = told.filter((term) => isKnown(term) || (!isAsked && !beside.has(term)));
  return foundIn(result, question, { wanted, told: beyond }, synonyms);
}

/** Ranks what the index found by what is wanted of it. */
function foundIn(
  result: SearchResult,
  question: Understood,
  terms: { readonly wanted: readonly string[]; readonly told: readonly string[] },
  synonyms: Synonyms,
): Found {
  const weigh = (each: readonly string[], shareOf: (term: string) => number): AskedTerms =>
    weighTerms(each, result, shareOf, synonyms, question.language);
  const asksItself = question.own.some((term) => !isSoft(term));
  const shareOf = (term: string): number => (asksItself && question.borrowed.includes(term) ? borrowedShare : 1);
  const alone = weigh(terms.wanted, shareOf);
  const asked = terms.told.length === 0 ? alone : weighTold(alone);
  function weighTold(without: AskedTerms): AskedTerms {
    // "What can I do?" asks for nothing but what was told: then that is the question, with less for what is unknown.
    const share = asksItself
      ? toldShareOf(
          without,
          weigh(terms.told, () => 1),
        )
      : 1;
    const told = (term: string): number => (asksItself || (result.frequency.get(term) ?? 0) > 0 ? share : unknownShare);
    return weigh([...terms.wanted, ...terms.told], (term) => (terms.told.includes(term) ? told(term) : shareOf(term)));
  }
  const ranked = rank(asked, result, question.wording).filter(({ candidate }) =>
    holdsOwn(candidate, question, terms.told, asked),
  );
  const confidenceOfScore = (score: number): number => confidenceOf(score, asked, result.chunkCount);
  return {
    question,
    asked,
    ranked,
    confidence: confidenceOfScore(ranked[0]?.score ?? 0),
    partial: result.partial === true,
    confidenceOfScore,
    without: (term) =>
      foundIn(result, question, { ...terms, wanted: terms.wanted.filter((each) => each !== term) }, synonyms),
    asMeasured: () =>
      foundIn(
        result,
        { ...question, own: question.measured, measured: [] },
        { ...terms, wanted: [...question.measured, ...terms.wanted] },
        synonyms,
      ),
  };
}

/** What is told beside a question that asks for something by itself. */
function toldTerms(told: string | undefined, question: Understood, synonyms: Synonyms): readonly string[] {
  if (told === undefined) return [];
  const terms = new Set(synonyms.read(termsOf(told, question.language)));
  const asked = new Set([...question.own, ...question.borrowed]);
  return [...terms].filter((term) => !asked.has(term) && !isSoft(term)).slice(-toldTermsMax);
}

function toldShareOf(asked: AskedTerms, told: AskedTerms): number {
  const sum = ({ weights }: AskedTerms): number => [...weights.values()].reduce((all, each) => all + each, 0);
  return Math.min(borrowedShare, (toldShare * sum(asked)) / Math.max(1, sum(told)));
}

/** "Hwo do I …": what no passage has, and was meant for a word that asks for nothing, is no word to look for. */
function rightlyWritten(
  text: string,
  { words, details, language }: Understood,
  { frequency, repaired }: SearchResult,
): string {
  const own = words.filter(({ term }) => !details.some((each) => each.includes(term)));
  const termOf = new Map(own.map(({ word, term }) => [word, term]));
  return withStopWordsRight(
    text,
    [...termOf.keys()],
    language,
    (word) => (frequency.get(termOf.get(word) ?? "") ?? 0) > 0,
    (word) => (repaired?.get(termOf.get(word) ?? "") ?? []).length > 0,
  );
}

/** A passage that has only what was borrowed is about the question before. */
function holdsOwn(
  { bodyTerms, titleTerms }: Ranked["candidate"],
  { own, borrowed }: Understood,
  told: readonly string[],
  asked: AskedTerms,
): boolean {
  if ((borrowed.length === 0 && told.length === 0) || own.every((term) => isSoft(term))) return true;
  const hasOwn = (terms: readonly string[]): boolean => asked.askedIn(terms).some(({ term }) => own.includes(term));
  return hasOwn(bodyTerms) || hasOwn(titleTerms);
}
