import type { Question } from "#engine/ports.ts";
import type { KnowledgeIndex } from "#knowledge/index-port.ts";
import type { AskedTerms } from "./asked-terms.ts";
import { weighTerms, withSynonyms } from "./asked-terms.ts";
import { confidenceOf } from "./confidence.ts";
import { understand } from "./question.ts";
import type { Understood } from "./question.ts";
import type { Ranked } from "./ranking.ts";
import { rank } from "./ranking.ts";

const candidatesMax = 50;
/** What the customer asked before counts less than what they ask now. */
const borrowedShare = 0.5;

export interface Found {
  readonly question: Understood;
  /** The question's own terms and the borrowed ones. */
  readonly asked: AskedTerms;
  /** Best first. */
  readonly ranked: readonly Ranked[];
  /** Of the best passage, 0 to 1. */
  readonly confidence: number;
  /** That of any passage, by its score. */
  confidenceOfScore(score: number): number;
}

export type Lookup = Pick<Question, "workspaceId" | "text" | "history" | "documentIds" | "audience">;

/** Finds and ranks passages for a question. */
export async function retrieve(index: KnowledgeIndex, lookup: Lookup): Promise<Found> {
  const question = understand(lookup.text, lookup.history);
  const terms = [...question.own, ...question.borrowed];
  const result = await index.search({
    workspaceId: lookup.workspaceId,
    terms: withSynonyms(terms),
    audience: lookup.audience,
    limit: candidatesMax,
    ...(lookup.documentIds === undefined ? {} : { documentIds: lookup.documentIds }),
  });
  // What a customer says of themselves, and the documents do not know, is not what they ask for.
  const beside = new Set(
    question.details.filter((detail) => detail.some((term) => (result.frequency.get(term) ?? 0) === 0)).flat(),
  );
  const shareOf = (term: string): number =>
    question.own.length > 0 && question.borrowed.includes(term) ? borrowedShare : 1;
  const asked = weighTerms(
    terms.filter((term) => !beside.has(term)),
    result,
    shareOf,
  );
  const ranked = rank(asked, result).filter(({ candidate }) => holdsOwn(candidate, question, asked));
  const confidenceOfScore = (score: number): number => confidenceOf(score, asked, result.chunkCount);
  return {
    question,
    asked,
    ranked,
    confidence: confidenceOfScore(ranked[0]?.score ?? 0),
    confidenceOfScore,
  };
}

/** A passage that has only what was borrowed is about the question before. */
function holdsOwn(
  { bodyTerms, titleTerms }: Ranked["candidate"],
  { own, borrowed }: Understood,
  asked: AskedTerms,
): boolean {
  if (borrowed.length === 0 || own.length === 0) return true;
  const isOwn = (term: string): boolean => own.includes(asked.askedBy(term) ?? "");
  return bodyTerms.some(isOwn) || titleTerms.some(isOwn);
}
