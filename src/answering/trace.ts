import type { Answer, AnswerTrace } from "./contract.ts";
import type { Question } from "./contract.ts";
import type { Judged } from "./rank/judge.ts";
import { evidenceOf } from "./rank/judge.ts";
import type { Found } from "./rank/search-further.ts";
import { foundByMessage, withoutRepeats } from "./rank/search-further.ts";
import { answerFloor } from "./rank/confidence.ts";
import { sourceOf } from "./composer.ts";

const passagesMax = 12;

/** The passages that were found, and which of them the answer cites. `read`: those that a language model got. */
export function searchTrace(
  { strictness }: Question,
  judged: Judged,
  read: readonly Found[] | undefined,
  { answered, sources }: Answer,
): AnswerTrace {
  const { found } = judged;
  const shown =
    read === undefined
      ? found.ranked.map((passage) => ({ passage, by: found }))
      : // The answer is from the message's own passages where the model fails.
        withoutRepeats([...read, ...foundByMessage(judged)]);
  return {
    kind: "search",
    evidence: evidenceOf(judged),
    floor: answerFloor[strictness],
    passages: shown.slice(0, passagesMax).map(({ passage, by }) => {
      const { title, url, chunk, score } = sourceOf(passage, by);
      const { chunkId: id, documentId, position } = passage.candidate;
      const used = answered && sources.some((each) => each.chunk === chunk && each.title === title);
      return { id, documentId, position, title, url, text: chunk, score, used };
    }),
  };
}
