import type { WorkspaceSettings } from "#domain/workspace/settings.ts";
import type { Question } from "#answering/contract.ts";
import type { KnowledgeIndex, SearchRequest, SearchResult } from "#knowledge/index/contract.ts";
import { isSpelt } from "#language/words/spelling.ts";
import type { AskedTerms } from "#answering/understand/asked-terms.ts";
import { weighTerms, withSynonyms } from "#answering/understand/asked-terms.ts";
import { confidenceOf } from "#answering/rank/confidence.ts";
import { stripPreamble } from "#answering/understand/preamble.ts";
import { maskPersonalData } from "#answering/generate/personal-data.ts";
import { interpretQuestion } from "#answering/understand/interpretations.ts";
import type { Understood } from "#answering/understand/question.ts";
import type { Ranked } from "#answering/rank/ranked.ts";
import { rank } from "#answering/rank/ranking.ts";
import { correctStopWords } from "#answering/understand/typos.ts";
import type { Synonyms } from "#language/words/synonyms.ts";
import { synonymsOf } from "#language/words/synonyms.ts";
import { isSoft, termsOf } from "#language/words/terms.ts";

const candidatesMax = 50;
/** Weight of a term that is borrowed from an earlier question. */
const borrowedShare = 0.5;
/** Maximum weight of all context terms together, as a share of the question's weight. */
const contextShare = 0.5;
const contextTermsMax = 12;
/** Weight of a context term that no document has, when the question has no term of its own. */
const unknownShare = 0.35;

/** Confidence by words from which meaning changes nothing. */
const sureFrom = 0.6;

export interface Retrieval {
  readonly question: Understood;
  /** The question's own terms and the borrowed ones. */
  readonly asked: AskedTerms;
  /** Best first. */
  readonly ranked: readonly Ranked[];
  /** Confidence of the best passage, 0 to 1. */
  readonly confidence: number;
  /** True while documents are still being indexed for the first time. An empty result then proves nothing. */
  readonly partial: boolean;
  /** Whether the passages have similarities, on the scale of the built-in encoder. */
  readonly comparesMeaning: boolean;
  /** Confidence of a passage with this score, 0 to 1. */
  confidenceOfScore(score: number): number;
  /** Ranks the same candidates without one borrowed term. Does not search again. */
  without(term: string): Retrieval;
  /** Ranks the same candidates by the measuring words of the question ("how long"). Does not search again. */
  asMeasured(): Retrieval;
}

export interface RetrievalRequest extends Pick<
  Question,
  "workspaceId" | "text" | "history" | "documentIds" | "audience"
> {
  readonly settings?: Pick<WorkspaceSettings, "synonyms">;
  /** Statements around the question. Their terms count less, and not at all when no document has them. */
  readonly context?: string;
}

const lastAsked = (history: RetrievalRequest["history"]): string =>
  history.findLast(({ role }) => role === "user")?.content ?? "";

/** A message for models that compare it with passages: with the question before it where it is a follow-up. */
export function textToCompare({ text, history }: RetrievalRequest, { borrowed }: Understood): string {
  return withoutPersonalData(borrowed.length === 0 ? text : `${lastAsked(history)} ${text}`);
}

/** Masks personal data before the text is sent to a server of models. */
function withoutPersonalData(text: string): string {
  // The masks are numbered, not random: the same question must hit the same cache entry.
  let count = 0;
  const next = (): string => {
    count += 1;
    return String(count).padStart(6, "0");
  };
  return maskPersonalData([text], next).texts[0] ?? "";
}

/**
 * Finds and ranks passages for a question. Searches again with corrected stop words when the text has typos;
 * `mayBeTypos` is false in that second call.
 */
export async function retrieve(
  index: KnowledgeIndex,
  lookup: RetrievalRequest,
  signal?: AbortSignal,
  mayBeTypos = true,
): Promise<Retrieval> {
  const synonyms = synonymsOf(lookup.settings?.synonyms);
  const text = stripPreamble(lookup.text);
  const question = await interpretQuestion(index, { ...lookup, text }, synonyms, signal);
  const terms = [...question.own, ...question.borrowed];
  const context = contextTerms(lookup.context, question, synonyms);
  const isEnough = (found: SearchResult): boolean => {
    const byWords = rankResult(found, question, { wanted: terms, context }, synonyms);
    return byWords.ranked[0]?.verbatim === true || byWords.confidence >= sureFrom;
  };
  const request: SearchRequest = {
    isEnough,
    workspaceId: lookup.workspaceId,
    terms: withSynonyms([...terms, ...context, ...question.measured], synonyms),
    audience: lookup.audience,
    limit: candidatesMax,
    text: () => textToCompare({ ...lookup, text }, question),
    // Names and addresses must not be corrected, however close they are to a known word.
    misspelt: question.words.filter(
      ({ word, term }) =>
        isSpelt(word) && synonyms.groupOf(term).length === 0 && !question.details.some((each) => each.includes(term)),
    ),
    ...(lookup.documentIds === undefined ? {} : { documentIds: lookup.documentIds }),
    ...(signal === undefined ? {} : { signal }),
  };
  let result = await index.search(request);
  const right = mayBeTypos ? correctTypos(text, question, result) : text;
  if (right !== text) return retrieve(index, { ...lookup, text: right }, signal, false);
  // The correction of a misspelt word can have synonyms of its own.
  const meant = [...(result.repaired?.values() ?? [])].flat();
  const more = withSynonyms(meant, synonyms).filter((term) => !meant.includes(term) && !request.terms.includes(term));
  if (more.length > 0) result = await index.search({ ...request, terms: [...request.terms, ...more] });
  // Personal details that no document contains are not part of the question.
  const beside = new Set(
    question.details.filter((detail) => detail.some((term) => (result.frequency.get(term) ?? 0) === 0)).flat(),
  );
  const wanted = terms.filter((term) => !beside.has(term));
  const isKnown = (term: string): boolean => (result.frequency.get(term) ?? 0) > 0;
  const isAsked = question.own.some((term) => !isSoft(term));
  const contextWanted = context.filter((term) => isKnown(term) || (!isAsked && !beside.has(term)));
  return rankResult(result, question, { wanted, context: contextWanted }, synonyms);
}

/** Weighs the terms and ranks the candidates of one search. */
function rankResult(
  result: SearchResult,
  question: Understood,
  terms: { readonly wanted: readonly string[]; readonly context: readonly string[] },
  synonyms: Synonyms,
): Retrieval {
  const weigh = (each: readonly string[], shareOf: (term: string) => number): AskedTerms =>
    weighTerms(each, result, shareOf, synonyms, question.language);
  const asksItself = question.own.some((term) => !isSoft(term));
  const shareOf = (term: string): number => (asksItself && question.borrowed.includes(term) ? borrowedShare : 1);
  const alone = weigh(terms.wanted, shareOf);
  const asked = terms.context.length === 0 ? alone : weighWithContext(alone);
  function weighWithContext(without: AskedTerms): AskedTerms {
    // "What can I do?" has no term of its own: the context is the question, and unknown terms weigh less.
    const share = asksItself
      ? contextShareOf(
          without,
          weigh(terms.context, () => 1),
        )
      : 1;
    const context = (term: string): number =>
      asksItself || (result.frequency.get(term) ?? 0) > 0 ? share : unknownShare;
    return weigh([...terms.wanted, ...terms.context], (term) =>
      terms.context.includes(term) ? context(term) : shareOf(term),
    );
  }
  const ranked = rank(asked, result, question.wording).filter(({ candidate }) =>
    matchesOwnTerm(candidate, question, terms.context, asked),
  );
  const confidenceOfScore = (score: number): number => confidenceOf(score, asked, result.chunkCount);
  return {
    question,
    asked,
    ranked,
    confidence: confidenceOfScore(ranked[0]?.score ?? 0),
    partial: result.partial === true,
    comparesMeaning: result.calibration !== undefined,
    confidenceOfScore,
    without: (term) =>
      rankResult(result, question, { ...terms, wanted: terms.wanted.filter((each) => each !== term) }, synonyms),
    asMeasured: () =>
      rankResult(
        result,
        { ...question, own: question.measured, measured: [] },
        { ...terms, wanted: [...question.measured, ...terms.wanted] },
        synonyms,
      ),
  };
}

/** The context terms that the question does not have already, at most `contextTermsMax`. */
function contextTerms(context: string | undefined, question: Understood, synonyms: Synonyms): readonly string[] {
  if (context === undefined) return [];
  const terms = new Set(synonyms.read(termsOf(context, question.language)));
  const asked = new Set([...question.own, ...question.borrowed]);
  return [...terms].filter((term) => !asked.has(term) && !isSoft(term)).slice(-contextTermsMax);
}

function contextShareOf(asked: AskedTerms, context: AskedTerms): number {
  const sum = ({ weights }: AskedTerms): number => [...weights.values()].reduce((all, each) => all + each, 0);
  return Math.min(borrowedShare, (contextShare * sum(asked)) / Math.max(1, sum(context)));
}

/** Corrects misspelt stop words that no passage has: "Hwo do I …". */
function correctTypos(
  text: string,
  { words, details, language }: Understood,
  { frequency, repaired }: SearchResult,
): string {
  const own = words.filter(({ term }) => !details.some((each) => each.includes(term)));
  const termOf = new Map(own.map(({ word, term }) => [word, term]));
  return correctStopWords(
    text,
    [...termOf.keys()],
    language,
    (word) => (frequency.get(termOf.get(word) ?? "") ?? 0) > 0,
    (word) => (repaired?.get(termOf.get(word) ?? "") ?? []).length > 0,
  );
}

/** False for a passage that matches borrowed terms only: it answers the previous question. */
function matchesOwnTerm(
  { bodyTerms, titleTerms }: Ranked["candidate"],
  { own, borrowed }: Understood,
  context: readonly string[],
  asked: AskedTerms,
): boolean {
  if ((borrowed.length === 0 && context.length === 0) || own.every((term) => isSoft(term))) return true;
  const hasOwn = (terms: readonly string[]): boolean => asked.askedIn(terms).some(({ term }) => own.includes(term));
  return hasOwn(bodyTerms) || hasOwn(titleTerms);
}
