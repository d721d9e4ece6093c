import type { Confidence } from "#domain/conversation/message.ts";
import type { Strictness } from "#domain/workspace/settings.ts";
import type { AskedTerms } from "#answering/understand/asked-terms.ts";
import { unknownWeight } from "#answering/understand/asked-terms.ts";
import { scoreLimit } from "./ranking.ts";

/**
 * The confidence below which no answer is given. At the strict floor fewer than one in fifty off-topic questions gets an
 * answer.
 */
export const answerFloor: Readonly<Record<Strictness, number>> = { strict: 0.28, helpful: 0.21 };
const mediumFrom = answerFloor.strict;
/** More than four in five answers above it are right, except for adversarial questions. Measured by bench:retrieval. */
export const highFrom = 0.4;
/** The highest confidence of an answer that leaves a part of the message unanswered. */
export const belowHigh = highFrom - 0.01;

/**
 * How much of the question the best passage covers, 0 to 1: its score divided by the highest possible score. Two unknown
 * words are added to the divisor, since a question of one word proves little. An unknown word weighs most.
 */
export function confidenceOf(bestScore: number, asked: AskedTerms, chunkCount: number): number {
  if (asked.weights.size === 0 || chunkCount === 0) return 0;
  const heaviest = unknownWeight(chunkCount);
  const isProven = [...asked.weights].some(([term, weight]) => isCode(term) && weight >= rareFrom * heaviest);
  const unknown = pseudoWords(chunkCount) * heaviest * (isProven ? codeDoubt : 1);
  return bestScore / (scoreLimit(asked) + asked.guessed + unknown);
}

/** A word of letters and digits, such as the code of an error. */
export const isCode = (term: string): boolean => /\p{N}/u.test(term) && /\p{L}/u.test(term);
/** Weight from which a code is rare, as a share of an unknown word's: one or two passages have it. */
const rareFrom = 0.6;
/** Share of the unknown words that still count where the question has a rare code, which no other subject has. */
const codeDoubt = 0.25;

/** Approaches two as the knowledge base grows; small ones have little to confuse. */
function pseudoWords(chunkCount: number): number {
  return (2 * chunkCount) / (chunkCount + 20);
}

export function bandOf(confidence: number): Confidence {
  if (confidence >= highFrom) return "high";
  return confidence >= mediumFrom ? "medium" : "low";
}
