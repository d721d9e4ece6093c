import type { Confidence } from "#domain/conversation/message.ts";
import type { Strictness } from "#domain/workspace/settings.ts";
import type { AskedTerms } from "#answering/understand/asked-terms.ts";
import { unknownWeight } from "#answering/understand/asked-terms.ts";
import { scoreLimit } from "./ranking.ts";

/**
 * Below it an answer is not given. A strict workspace would rather say "I don't know" than be wrong: at its floor fewer
 * than one in fifty questions about something else gets an answer.
 */
export const answerFloor: Readonly<Record<Strictness, number>> = { strict: 0.28, helpful: 0.21 };
const mediumFrom = answerFloor.strict;
/** Of the answers above it more than four in five are right, unless questions were made to mislead: bench:retrieval. */
export const highFrom = 0.4;
/** The most where a part of what was asked is not known. */
export const belowHigh = highFrom - 0.01;

/**
 * How much of what was asked the best passage holds, 0 to 1: its score by the highest that any passage could reach, with
 * two unknown words added so that a question of one word proves little. A word that no passage has weighs most.
 */
export function confidenceOf(bestScore: number, asked: AskedTerms, chunkCount: number): number {
  if (asked.weights.size === 0 || chunkCount === 0) return 0;
  const unknown = pseudoWords(chunkCount) * unknownWeight(chunkCount);
  return bestScore / (scoreLimit(asked) + asked.guessed + unknown);
}

/** Two in a knowledge base of some size; fewer where there is little to confuse. */
function pseudoWords(chunkCount: number): number {
  return (2 * chunkCount) / (chunkCount + 20);
}

export function bandOf(confidence: number): Confidence {
  if (confidence >= highFrom) return "high";
  return confidence >= mediumFrom ? "medium" : "low";
}
