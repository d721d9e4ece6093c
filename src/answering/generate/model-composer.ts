import { randomBytes } from "node:crypto";
import type { Answer, Question } from "#answering/contract.ts";
import type { Log } from "#runtime/log.ts";
import type { Composer, ComposeRequest } from "#answering/composer.ts";
import {
  lookupSource,
  searched,
  sourceOf,
  sourcesMax,
  answerFromLookups,
  uncertainPreface,
  unknownAnswer,
} from "#answering/composer.ts";
import { bandOf, belowHigh } from "#answering/rank/confidence.ts";
import type { Found } from "#answering/rank/search-further.ts";
import type { LanguageModel, ModelSink } from "#models/language-model.ts";
import { ModelFailure } from "#models/language-model.ts";
import { problemOf } from "./model-problem.ts";
import { maskPersonalData } from "./personal-data.ts";
import { createPieces } from "./pieces.ts";
import { buildPrompt, titleWithoutCommands, withoutCommands } from "./prompt.ts";
import { createReview } from "./review.ts";
import { evidenceOf } from "./support.ts";

/** Counters for the metrics endpoint. */
export interface ModelMetrics {
  answered(kept: number, dropped: number): void;
  /** `extract`: the answer consists of the documents' own sentences. `told`: the caller got a problem. */
  failed(kind: ModelFailure["kind"], instead: "told" | "extract"): void;
}

type WhenModelFails = NonNullable<Question["whenModelFails"]>;

const historyMax = 8;
const turnCharactersMax = 1_000;
/** API clients wait 30 seconds at most. Answers for channels may take longer. */
const budgetMs: Readonly<Record<WhenModelFails, number>> = { tell: 25_000, extract: 45_000 };
/** Upper limit before the share of dropped sentences is applied: a dropped sentence shows that the model was unsure. */
const evidenceMax = 0.6;
/** Lookups of skills. */
const certain = 1;
/** Passages that only the model finds to answer: the words of the question do not prove it. */
const readEvidence = belowHigh;

/**
 * Lets a language model write the answer from the passages, and passes on only what they support. When the model fails,
 * throws a `Problem` or falls back to `instead`, see `Question.whenModelFails`.
 */
export function createModelComposer({
  model,
  instead,
  log,
  counts,
}: {
  readonly model: LanguageModel;
  readonly instead: Composer;
  readonly log: Log;
  readonly counts: ModelMetrics;
}): Composer {
  return {
    async compose(judged, signal) {
      let shown = false;
      const { onToken } = judged.question;
      const show = (text: string): void => {
        shown ||= text !== "";
        if (text !== "") onToken?.(text);
      };
      try {
        return await write(judged, show, () => shown && onToken !== undefined, signal);
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof ModelFailure)) throw error;
        const { whenModelFails = "extract", lookups = [] } = judged.question;
        // Streamed text cannot be replaced by another answer. Lookups can be answered without a model.
        const isThrown = (whenModelFails === "tell" && lookups.length === 0) || (shown && onToken !== undefined);
        const outcome = isThrown ? "told" : "extract";
        counts.failed(error.kind, outcome);
        log.warn({ kind: error.kind, reason: error.message, instead: outcome }, "model: answering failed");
        if (isThrown) throw problemOf(error);
        return instead.compose(judged, signal);
      }
    },
  };

  async function write(
    request: ComposeRequest,
    show: (text: string) => void,
    hasShown: () => boolean,
    signal: AbortSignal,
  ): Promise<Answer> {
    const { question, extract } = request;
    const { lookups = [], temperature = 0, whenModelFails = "extract" } = question;
    const grounds = groundsFor(request);
    const evidence = lookups.length > 0 ? certain : (extract?.evidence ?? readEvidence);
    const preface = bandOf(evidence) === "low" ? uncertainPreface(question) : "";
    let answer = "";
    let attempt = beginAttempt(grounds, question);
    const add = (text: string): void => {
      if (text === "") return;
      const shown = `${answer === "" ? preface : ""}${grounds.masked.restore(text)}`;
      answer += shown;
      show(shown);
    };
    const sink: ModelSink = {
      text: (delta) => add(attempt.review.take(attempt.pieces.feed(delta))),
      restart() {
        if (hasShown()) return false;
        answer = "";
        attempt = beginAttempt(grounds, question);
        return true;
      },
    };
    const { system, user } = grounds.prompt;
    const modelRequest = { system, user, temperature, budgetMs: budgetMs[whenModelFails] };
    const { finish, tokensUsed } = await model.write(modelRequest, sink, signal);
    signal.throwIfAborted();
    const { pieces, review } = attempt;
    if (finish !== "refused") add(review.take(pieces.end(finish === "length")));
    const { kept, dropped, cited } = review.sum();
    counts.answered(kept, dropped);
    if (kept === 0) {
      const other = lookups.length > 0 ? answerFromLookups(lookups) : unknownAnswer(request);
      show(other.text);
      return { ...other, tokensUsed };
    }
    const missing = dropped + (finish === "complete" ? 0 : 1);
    return {
      ...searched,
      tokensUsed,
      text: answer,
      sources: cited.map((index) => grounds.sources[index]).filter((each) => each !== undefined),
      ...(grounds.hasPassages ? {} : { skillsFired: [] }),
      confidence: bandOf(Math.min(evidenceMax, evidence) * (kept / (kept + missing))),
      answered: true,
    };
  }
}

/** The prompt, and the texts that the answer is reviewed against: lookups first, then passages. */
function groundsFor(request: ComposeRequest) {
  const { question } = request;
  const { lookups = [] } = question;
  const passages = passagesFor(request);
  const turns = question.history.slice(-historyMax);
  // Lookups hold personal data and are masked. The documents are the company's own.
  const masked = maskPersonalData(
    [
      question.text,
      ...lookups.map(({ text }) => text),
      ...turns.map(({ content }) => content.slice(0, turnCharactersMax)),
    ],
    () => randomBytes(3).toString("hex"),
  );
  const [text = "", ...others] = masked.texts;
  const contents = others.slice(lookups.length);
  const grounds = [
    ...lookups.map(({ title }, index) => ({ title, url: null, text: withoutCommands(others[index] ?? "") })),
    ...passages.map(({ passage: { candidate } }) => ({
      title: titleWithoutCommands(candidate.title),
      url: candidate.url,
      text: withoutCommands(candidate.text),
    })),
  ];
  const prompt = buildPrompt({
    passages: grounds,
    history: turns.map(({ role }, index) => ({ role, content: contents[index] ?? "" })),
    question: text,
    strictness: question.strictness,
    marker: randomBytes(12).toString("hex"),
  });
  return {
    prompt,
    masked,
    evidence: grounds.map((each) => evidenceOf(each)),
    sources: [...lookups.map(lookupSource), ...passages.map(({ passage, by }) => sourceOf(passage, by))],
    hasPassages: passages.length > 0,
  };
}

function beginAttempt({ evidence, prompt, masked }: ReturnType<typeof groundsFor>, { strictness, topK }: Question) {
  const { leaks } = prompt;
  const judged = masked.withoutPlaceholders;
  const citable = Math.min(sourcesMax, topK);
  return { pieces: createPieces(), review: createReview({ evidence, strictness, sourcesMax: citable, leaks, judged }) };
}

/** Without further searches the passages of the extracted answer first, then the best ranked, at most `topK`. */
function passagesFor({ question, found, extract, read }: ComposeRequest): readonly Found[] {
  if (read !== undefined) return read;
  if (extract === undefined) return [];
  const passages = [...new Set([...extract.used, ...found.ranked])].slice(0, question.topK);
  return passages.map((passage) => ({ passage, by: found }));
}
