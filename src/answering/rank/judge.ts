import { setImmediate as turn } from "node:timers/promises";
import type { Question } from "#answering/contract.ts";
import type { KnowledgeIndex } from "#knowledge/index/contract.ts";
import type { Composed } from "#answering/extract/compose.ts";
import { compose } from "#answering/extract/compose.ts";
import { bandOf } from "./confidence.ts";
import { askingWords, asksOtherwise } from "#answering/understand/question.ts";
import type { Found, Lookup } from "#answering/retrieve/retrieve.ts";
import { retrieve } from "#answering/retrieve/retrieve.ts";
import { isSoft } from "#language/terms.ts";
import { wordsOfHeading } from "./title-fit.ts";

/** The passage that tells the steps often ranks a little below those that only speak of them. */
const passagesBeyond = 3;
/** From here on a heading is the question itself, and not one about something else. */
const sameQuestion = 0.75;
/** Of so many borrowed terms each is tried as the one that another thing was put in the place of. */
const triedMax = 4;

/** What the documents hold for a question. */
export interface Judged {
  readonly found: Found;
  /** The answer that their own sentences make; undefined where there is none. */
  readonly extract: Composed | undefined;
}

export type Asked = Lookup & Pick<Question, "topK">;

export const evidenceOf = ({ extract }: Judged): number => extract?.evidence ?? 0;

/** What is found for a question, and how much of an answer the documents' own sentences make. */
export async function judge(index: KnowledgeIndex, lookup: Asked, signal: AbortSignal): Promise<Judged> {
  const leaning = await judgeOne(index, lookup, signal);
  const { own, borrowed } = leaning.found.question;
  if (own.length === 0 || borrowed.length === 0 || bandOf(evidenceOf(leaning)) === "high") return leaning;
  // It may only seem to speak of what was asked before: "and what does it cost?"
  const alone = await judgeOne(index, { ...lookup, history: [] }, signal);
  return isTheQuestion(alone) && bandOf(evidenceOf(alone)) !== "low" ? alone : leaning;
}

/** The answer stands under a heading that is the question. */
function isTheQuestion({ extract }: Judged): boolean {
  return extract?.used.some(({ fit }) => fit >= sameQuestion) === true;
}

/** The same, and it asks in the same way. */
export function isTheSameQuestion({ found, extract }: Judged): boolean {
  const { asking, language } = found.question;
  const asks = (title: string): string | null =>
    title.endsWith("?") ? askingWords(wordsOfHeading(title), language) : asking;
  return (
    extract?.used.some(({ fit, candidate }) => fit >= sameQuestion && !asksOtherwise(asks(candidate.title), asking)) ===
    true
  );
}

async function judgeOne(index: KnowledgeIndex, lookup: Asked, signal: AbortSignal): Promise<Judged> {
  const found = await retrieve(index, lookup, signal);
  // To rank and to put together each take a millisecond or two, and other requests have their turn between.
  await turn();
  signal.throwIfAborted();
  const count = lookup.topK + passagesBeyond;
  const put = (each: Found): Judged => ({
    found: each,
    extract: compose(each.question, each.asked, each.ranked, count, each.confidenceOfScore),
  });
  let best = put(found);
  const { another, own, borrowed } = found.question;
  // "And Slack?" after a question on Telegram asks no more for Telegram, "how do I remove one?" no more for adding it.
  if (another || (own.some((term) => !isSoft(term)) && bandOf(evidenceOf(best)) === "low")) {
    for (const term of borrowed.slice(-triedMax)) {
      await turn();
      signal.throwIfAborted();
      const without = put(found.without(term));
      if (
        isTheQuestion(without) === isTheQuestion(best)
          ? another && evidenceOf(without) > evidenceOf(best)
          : isTheQuestion(without)
      )
        best = without;
    }
  }
  if (found.question.measured.length > 0) {
    await turn();
    const measured = put(found.asMeasured());
    if (asksAsMuch(measured)) best = measured;
  }
  signal.throwIfAborted();
  return best;
}

/** "How long does that take?" has its answer under "How long does it take until …?", rather than where it speaks of it. */
function asksAsMuch({ found, extract }: Judged): boolean {
  const { asking } = found.question;
  if (asking === null || !asking.includes(" ")) return false;
  return (
    extract?.used.some(({ candidate }) => ` ${wordsOfHeading(candidate.title).join(" ")} `.includes(` ${asking} `)) ===
    true
  );
}
