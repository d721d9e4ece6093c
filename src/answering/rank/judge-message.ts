import type { Question } from "#answering/contract.ts";
import type { KnowledgeIndex } from "#knowledge/index/contract.ts";
import { partedMessage } from "#answering/understand/asked-sentences.ts";
import { answerFloor } from "./confidence.ts";
import type { Asked, Judged } from "./judge.ts";
import { evidenceOf, isTheSameQuestion, judge } from "./judge.ts";
import { judgeMultiQuestion } from "#answering/understand/multi-question.ts";
import { isSoft } from "#language/terms.ts";

/** A question of so many words that count needs nothing of what is told beside it to be understood. */
const wholeFrom = 3;

const toldCost = 0.04;
/** A part of the message has to be surer than the whole by so much. */
const partCost = 0.02;

export type Message = Asked & Pick<Question, "strictness" | "settings">;

/**
 * What the documents hold for a message: as it stands, and where it tells something beside its question, for the
 * question alone.
 */
export async function judgeMessage(index: KnowledgeIndex, message: Message, signal: AbortSignal): Promise<Judged> {
  const whole = await judge(index, message, signal);
  const several = await judgeMultiQuestion(index, message, whole, signal);
  if (several !== undefined) return several;
  const floor = answerFloor[message.strictness];
  if (evidenceOf(whole) >= floor) return whole;
  const parted = partedMessage(message.text);
  if (parted === undefined) return whole;
  const { asked, told } = parted;
  const history = told === "" ? message.history : [...message.history, { role: "user" as const, content: told }];
  const question = { ...message, text: asked, history };
  const part = await judgeAsked(index, question, told, signal);
  const best = (await judgeMultiQuestion(index, question, part, signal)) ?? part;
  // Where nothing is told, the whole names more of what is asked, and what came nearest is better told by it.
  if (told === "" && evidenceOf(best) < floor) return whole;
  return evidenceOf(whole) + partCost >= evidenceOf(best) ? whole : best;
}

async function judgeAsked(
  index: KnowledgeIndex,
  question: Message,
  told: string,
  signal: AbortSignal,
): Promise<Judged> {
  if (told === "") return judge(index, question, signal);
  const within = await judge(index, { ...question, told }, signal);
  const { own } = within.found.question;
  const meant = own.filter((term) => !isSoft(term)).length;
  if (meant === 0) return isDoubtful(within);
  const alone = await judge(index, question, signal);
  const isWhole = meant >= wholeFrom || isTheSameQuestion(alone);
  return isWhole && evidenceOf(alone) > evidenceOf(within) ? alone : within;
}

/** What is told for no more than "what can I do?" is a guess at what is wanted. */
function isDoubtful({ found, extract }: Judged): Judged {
  return { found, extract: extract === undefined ? undefined : { ...extract, evidence: extract.evidence - toldCost } };
}
