import type { Answer, AnswerTrace } from "./contract.ts";
import type { Question } from "./contract.ts";
import type { Judged } from "./rank/judge.ts";
import { evidenceOf } from "./rank/judge.ts";
import { answerFloor } from "./rank/confidence.ts";
import { sourceOf } from "./composer.ts";

const passagesMax = 12;

/** The passages that were found, and which of them the answer cites. */
export function searchTrace({ strictness }: Question, judged: Judged, { answered, sources }: Answer): AnswerTrace {
  const { found } = judged;
  return {
    kind: "search",
    evidence: evidenceOf(judged),
    floor: answerFloor[strictness],
    passages: found.ranked.slice(0, passagesMax).map((ranked) => {
      const { title, url, chunk, score } = sourceOf(ranked, found);
      const { chunkId: id, documentId, position } = ranked.candidate;
      const used = answered && sources.some((each) => each.chunk === chunk && each.title === title);
      return { id, documentId, position, title, url, text: chunk, score, used };
    }),
  };
}
