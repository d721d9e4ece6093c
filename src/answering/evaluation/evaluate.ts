import type { Answer, Answerer, Question } from "#answering/contract.ts";
import type { Confidence } from "#domain/conversation/message.ts";
import type { Verdict } from "./judge.ts";
import { judgeAnswer, verdicts } from "./judge.ts";
import type { EvaluationQuestion } from "./question-file.ts";

export interface Evaluated extends EvaluationQuestion {
  readonly verdict: Verdict;
  readonly confidence: Confidence;
  readonly answer: string;
  /** Titles of the cited passages. */
  readonly cited: readonly string[];
}

/** Asks each question on its own, and judges the answers. Stores nothing. */
export async function* evaluate(
  answerer: Answerer,
  questions: readonly EvaluationQuestion[],
  of: Pick<Question, "workspaceId" | "settings" | "strictness">,
  signal: AbortSignal,
): AsyncGenerator<Evaluated> {
  for (const question of questions) {
    const asked = { ...of, text: question.text, history: [], topK: 5, audience: [], isTrial: true } as const;
    const answer = await answerer.answer({ ...asked, whenModelFails: "throw" }, signal);
    const { text, confidence, answered } = answer;
    const given = { text, confidence, answered, cited: namesOf(answer) };
    yield {
      ...question,
      verdict: judgeAnswer(given, [question.expected]),
      confidence,
      answer: text,
      cited: answered ? answer.sources.map(({ title }) => title) : [],
    };
  }
}

/** A document is known by its title, by a heading, or by its address. */
const namesOf = ({ sources }: Answer): readonly string[] =>
  sources.flatMap(({ title, url }) => [title, ...title.split(" › "), url].map((name) => name.toLowerCase()));

export interface Share {
  readonly count: number;
  /** 0 to 1, with its 95 % interval. */
  readonly share: number;
  readonly low: number;
  readonly high: number;
}

export interface Evaluation {
  readonly questions: number;
  readonly verdicts: Readonly<Record<Verdict, Share>>;
  /** Right answers of all that were given with the confidence. */
  readonly right_by_confidence: Readonly<Record<Confidence, Share & { readonly answers: number }>>;
}

export function summaryOf(results: readonly Evaluated[]): Evaluation {
  const count = (verdict: Verdict): number => results.filter((each) => each.verdict === verdict).length;
  const shares = verdicts.map((verdict) => [verdict, shareOf(count(verdict), results.length)] as const);
  const given = results.filter(({ verdict }) => !verdict.startsWith("refused"));
  const bands = (["high", "medium", "low"] as const).map((band) => {
    const answers = given.filter(({ confidence }) => confidence === band);
    const right = answers.filter(({ verdict }) => verdict === "right").length;
    return [band, { answers: answers.length, ...shareOf(right, answers.length) }] as const;
  });
  return {
    questions: results.length,
    verdicts: Object.fromEntries(shares) as Evaluation["verdicts"],
    right_by_confidence: Object.fromEntries(bands) as Evaluation["right_by_confidence"],
  };
}

/** The score interval of Wilson, for 95 %. */
function shareOf(count: number, of: number): Share {
  if (of === 0) return { count, share: 0, low: 0, high: 1 };
  const z = 1.96;
  const share = count / of;
  const middle = share + z ** 2 / (2 * of);
  const spread = z * Math.sqrt((share * (1 - share)) / of + z ** 2 / (4 * of ** 2));
  const scale = 1 + z ** 2 / of;
  return { count, share, low: (middle - spread) / scale, high: (middle + spread) / scale };
}

const badness: readonly Verdict[] = ["wrong", "refused wrongly", "partly"];
const bands: readonly Confidence[] = ["high", "medium", "low"];

/** Wrong answers first, the most confident ones before others. */
export function worstOf(results: readonly Evaluated[], most: number): readonly Evaluated[] {
  const rank = ({ verdict, confidence }: Evaluated): number =>
    badness.indexOf(verdict) * bands.length + bands.indexOf(confidence);
  return results
    .filter(({ verdict }) => badness.includes(verdict))
    .toSorted((a, b) => rank(a) - rank(b))
    .slice(0, most);
}
