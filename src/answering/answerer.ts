import type { Source } from "#domain/message.ts";
import type { Answer, Answerer, Question } from "#engine/ports.ts";
import type { KnowledgeIndex } from "#knowledge/index-port.ts";
import type { AskedTerms } from "./asked-terms.ts";
import { weighTerms, withSynonyms } from "./asked-terms.ts";
import { compose } from "./compose.ts";
import { answerFloor, bandOf, confidenceOf } from "./confidence.ts";
import { understand } from "./question.ts";
import type { Understood } from "./question.ts";
import type { Ranked } from "./ranking.ts";
import { rank } from "./ranking.ts";
import { smallTalkReply } from "./small-talk.ts";

const candidatesMax = 50;
const sourcesMax = 5;
/** The passage that tells the steps often ranks a little below those that only speak of them. */
const passagesBeyond = 3;
/** What the customer asked before counts less than what they ask now. */
const borrowedShare = 0.5;
const uncertainPreface = "I'm not certain, but this may help:\n\n";

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
  const shareOf = (term: string): number =>
    question.own.length > 0 && question.borrowed.includes(term) ? borrowedShare : 1;
  const asked = weighTerms(terms, result, shareOf);
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

/**
 * Answers in the documents' own sentences, without a language model: what it says is written in the sources it names.
 * Where the best passage holds too little of what was asked, it says that it does not know.
 */
export function createExtractiveAnswerer({ index }: { readonly index: KnowledgeIndex }): Answerer {
  return {
    async answer(question, signal) {
      signal.throwIfAborted();
      const answer = await answerOf(question);
      signal.throwIfAborted();
      if (question.onToken !== undefined) {
        for (const [piece] of answer.text.matchAll(/\s*\S+\s*/g)) question.onToken(piece);
      }
      return answer;
    },
  };

  async function answerOf(question: Question): Promise<Answer> {
    const reply = smallTalkReply(question.text, question.settings.botName);
    if (reply !== undefined) {
      return {
        text: reply,
        sources: [],
        confidence: "high",
        answered: true,
        skillsFired: [],
        tokensUsed: 0,
      };
    }
    const found = await retrieve(index, question);
    const top = found.ranked.slice(0, question.topK);
    const composed = compose(
      found.question,
      found.asked,
      found.ranked,
      question.topK + passagesBeyond,
      found.confidenceOfScore,
    );
    const common = { skillsFired: ["knowledge_search"], tokensUsed: 0 };
    if (composed === undefined || composed.evidence < answerFloor[question.strictness]) {
      const sources = top.slice(0, sourcesMax).map((passage) => sourceOf(passage, found));
      return {
        ...common,
        text: question.settings.unknownMessage,
        sources,
        confidence: "low",
        answered: false,
      };
    }
    const confidence = bandOf(composed.evidence);
    return {
      ...common,
      text: confidence === "low" ? `${uncertainPreface}${composed.text}` : composed.text,
      sources: composed.used.slice(0, Math.min(sourcesMax, question.topK)).map((passage) => sourceOf(passage, found)),
      confidence,
      answered: true,
    };
  }
}

function sourceOf({ candidate, score }: Ranked, found: Found): Source {
  const share = Math.round(found.confidenceOfScore(score) * 10_000) / 10_000;
  return { title: candidate.title, url: candidate.url ?? "", chunk: candidate.text, score: share };
}
