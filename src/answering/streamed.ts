import type { Answer, Question } from "./contract.ts";

/** Streams a complete answer word by word, and returns it. */
export function streamed({ onToken }: Question, answer: Answer): Answer {
  if (onToken !== undefined) for (const [piece] of answer.text.matchAll(/\s*\S+\s*/g)) onToken(piece);
  return answer;
}
