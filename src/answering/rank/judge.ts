import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { Question } from "#answering/contract.ts";
import type { KnowledgeIndex } from "#knowledge/index/contract.ts";
import type { Composed } from "#answering/extract/compose.ts";
import { compose } from "#answering/extract/compose.ts";
import { bandOf } from "./confidence.ts";
import { askingWords, asksOtherwise, kindOf } from "#answering/understand/question.ts";
import type { Retrieval, RetrievalRequest } from "#answering/retrieve/retrieve.ts";
import { retrieve } from "#answering/retrieve/retrieve.ts";
import { isSoft } from "#language/words/terms.ts";
import { partsOfTitle, wordsOfHeading } from "./title-fit.ts";

/** Passages considered beyond `topK`: the one with the steps often ranks just below those that only mention them. */
const passagesBeyond = 3;
/** Title fit from which a heading counts as the question itself. */
const sameQuestion = 0.75;
/** Number of meaningful terms from which a follow-up can be a question of its own. */
const aloneFrom = 2;
/** How many borrowed terms are left out, one at a time, to find the one that a follow-up replaces. */
const triedMax = 4;

/** The search result for a question, and the answer that the documents' sentences make. */
export interface Judged {
  readonly found: Retrieval;
  /** Undefined when the passages contain no sentence that can answer. */
  readonly extract: Composed | undefined;
}

export type JudgeRequest = RetrievalRequest & Pick<Question, "topK">;

export const evidenceOf = ({ extract }: Judged): number => extract?.evidence ?? 0;

/**
 * Searches for a question, and extracts an answer. Searches again without the history if the follow-up may be complete
 * by itself.
 */
export async function judge(index: KnowledgeIndex, lookup: JudgeRequest, signal: AbortSignal): Promise<Judged> {
  const inContext = await judgeOne(index, lookup, signal);
  const { own, borrowed } = inContext.found.question;
  if (own.length === 0 || borrowed.length === 0 || bandOf(evidenceOf(inContext)) === "high") return inContext;
  // "And what does it cost?" can look like a follow-up without being one.
  const alone = await judgeOne(index, { ...lookup, history: [] }, signal);
  // One word is the heading of a section in many documents: "and on mac?" after a question about something else.
  const isOneWord =
    own.filter((term) => !isSoft(term)).length < aloneFrom && inContext.found.question.language === "en";
  return (isOneWord ? isAskedByHeading(alone) : isTheQuestion(alone)) && bandOf(evidenceOf(alone)) !== "low"
    ? alone
    : inContext;
}

/** True when the answer is from under a heading that is the question. */
function isTheQuestion({ extract }: Judged): boolean {
  return extract?.used.some(({ fit }) => fit >= sameQuestion) === true;
}

/**
 * Whether a heading of the answer asks for the same, as "What does it cost?" and "How much is it?" do, or is the title of a
 * document.
 */
function isAskedByHeading({ found, extract }: Judged): boolean {
  const { asking, asks, language } = found.question;
  const isAsked = (title: string): boolean => {
    const words = wordsOfHeading(title);
    const isOfKind = asks !== "anything" && kindOf(words.join(" ")) === asks;
    return asking !== null && title.endsWith("?") && (isOfKind || !asksOtherwise(askingWords(words, language), asking));
  };
  const isSection = (title: string): boolean => partsOfTitle(title).length > 1;
  return (
    extract?.used.some(
      ({ fit, candidate: { title } }) => fit >= sameQuestion && (!isSection(title) || isAsked(title)),
    ) === true
  );
}

/** Like {@link isTheQuestion}, and the heading asks with the same question word. */
export function isTheSameQuestion({ found, extract }: Judged): boolean {
  const { asking, language } = found.question;
  const asks = (title: string): string | null =>
    title.endsWith("?") ? askingWords(wordsOfHeading(title), language) : asking;
  return (
    extract?.used.some(({ fit, candidate }) => fit >= sameQuestion && !asksOtherwise(asks(candidate.title), asking)) ===
    true
  );
}

export async function judgeOne(index: KnowledgeIndex, lookup: JudgeRequest, signal: AbortSignal): Promise<Judged> {
  const found = await retrieve(index, lookup, signal);
  // Ranking and composing block the event loop for a millisecond or two each. Other requests run in between.
  await yieldToEventLoop();
  signal.throwIfAborted();
  const count = lookup.topK + passagesBeyond;
  const evaluate = (each: Retrieval): Judged => ({
    found: each,
    extract: compose(each.question, each.asked, each.ranked, count, each.confidenceOfScore),
  });
  let best = evaluate(found);
  const { another, own, borrowed } = found.question;
  // "And Slack?" replaces "Telegram" of the previous question, "how do I remove one?" replaces "add".
  if (another || (own.some((term) => !isSoft(term)) && bandOf(evidenceOf(best)) === "low")) {
    for (const term of borrowed.slice(-triedMax)) {
      await yieldToEventLoop();
      signal.throwIfAborted();
      const without = evaluate(found.without(term));
      if (
        isTheQuestion(without) === isTheQuestion(best)
          ? another && evidenceOf(without) > evidenceOf(best)
          : isTheQuestion(without)
      )
        best = without;
    }
  }
  if (found.question.measured.length > 0) {
    await yieldToEventLoop();
    const measured = evaluate(found.asMeasured());
    if (asksAsMuch(measured)) best = measured;
  }
  signal.throwIfAborted();
  return best;
}

/** True when a heading of the answer repeats the asking words: "How long does that take?" under "How long does it take until …?" */
function asksAsMuch({ found, extract }: Judged): boolean {
  const { asking } = found.question;
  if (asking === null || !asking.includes(" ")) return false;
  return (
    extract?.used.some(({ candidate }) => ` ${wordsOfHeading(candidate.title).join(" ")} `.includes(` ${asking} `)) ===
    true
  );
}
