import type { Question } from "#answering/contract.ts";
import type { KnowledgeIndex } from "#knowledge/index/contract.ts";
import { splitMessage } from "#answering/understand/asked-sentences.ts";
import { answerFloor } from "./confidence.ts";
import { judgeCited } from "./judge-cited.ts";
import type { JudgeRequest, Judged } from "./judge.ts";
import { evidenceOf, isTheSameQuestion, judge } from "./judge.ts";
import { judgeMultiQuestion } from "#answering/understand/multi-question.ts";
import { isSoft } from "#language/words/terms.ts";

/** Number of meaningful terms from which a question is understood without the sentences around it. */
const wholeFrom = 3;

/** Cost of an answer to a question that has no term of its own ("what can I do?") and is guessed from its context. */
const guessCost = 0.04;
/** Margin by which a part of the message must beat the whole. */
const partCost = 0.02;

export type Message = JudgeRequest & Pick<Question, "strictness" | "settings">;

/**
 * Judges a message as a whole, then each of its questions, then the asking sentences without the statements around them,
 * then within the document that was cited before. Stops at the first that reaches the floor of the workspace.
 */
export async function judgeMessage(index: KnowledgeIndex, message: Message, signal: AbortSignal): Promise<Judged> {
  const judged = await judgeParts(index, message, signal);
  if (evidenceOf(judged) >= answerFloor[message.strictness]) return judged;
  return (await judgeCited(index, message, signal)) ?? judged;
}

async function judgeParts(index: KnowledgeIndex, message: Message, signal: AbortSignal): Promise<Judged> {
  const whole = await judge(index, message, signal);
  // A heading of the documents, such as a chosen suggestion, is one question even if it asks two things.
  if (whole.found.ranked[0]?.verbatim === true && evidenceOf(whole) >= answerFloor[message.strictness]) return whole;
  const multiQuestion = await judgeMultiQuestion(index, message, whole, signal);
  if (multiQuestion !== undefined) return multiQuestion;
  const floor = answerFloor[message.strictness];
  if (evidenceOf(whole) >= floor) return whole;
  const split = splitMessage(message.text);
  if (split === undefined) return whole;
  const { asked, context } = split;
  const history = context === "" ? message.history : [...message.history, { role: "user" as const, content: context }];
  const question = { ...message, text: asked, history };
  const part = await judgeAsked(index, question, context, signal);
  const best = (await judgeMultiQuestion(index, question, part, signal)) ?? part;
  // Without context sentences the whole message has more terms, and its nearest passages are the better ones to show.
  if (context === "" && evidenceOf(best) < floor) return whole;
  return evidenceOf(whole) + partCost >= evidenceOf(best) ? whole : best;
}

async function judgeAsked(
  index: KnowledgeIndex,
  question: Message,
  context: string,
  signal: AbortSignal,
): Promise<Judged> {
  if (context === "") return judge(index, question, signal);
  const within = await judge(index, { ...question, context }, signal);
  const { own } = within.found.question;
  const meant = own.filter((term) => !isSoft(term)).length;
  if (meant === 0) return withGuessCost(within);
  const alone = await judge(index, question, signal);
  const isWhole = meant >= wholeFrom || isTheSameQuestion(alone);
  return isWhole && evidenceOf(alone) > evidenceOf(within) ? alone : within;
}

/** Lowers the evidence: the question is guessed from its context. */
function withGuessCost({ found, extract }: Judged): Judged {
  return { found, extract: extract === undefined ? undefined : { ...extract, evidence: extract.evidence - guessCost } };
}
