import { randomBytes } from "node:crypto";
import { Problem } from "#domain/problem.ts";
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
import { bandOf } from "#answering/rank/confidence.ts";
import type { Ranked } from "#answering/rank/ranked.ts";
import type { LanguageModel, ModelSink } from "#models/language-model.ts";
import { ModelFailure } from "#models/language-model.ts";
import { maskPersonalData } from "./personal-data.ts";
import { createPieces } from "./pieces.ts";
import { buildPrompt, titleWithoutCommands, withoutCommands } from "./prompt.ts";
import { createReview } from "./review.ts";
import { evidenceOf } from "./support.ts";

/** Counters for the metrics endpoint. */
export interface ModelMetrics {
  answered(kept: number, dropped: number): void;
  /** `extract`: the answer was made of the documents' own sentences. `told`: the caller got a problem. */
  failed(kind: ModelFailure["kind"], instead: "told" | "extract"): void;
}

type WhenModelFails = NonNullable<Question["whenModelFails"]>;

const historyMax = 8;
const turnCharactersMax = 1_000;
/** API clients wait 30 seconds at most. Answers for channels may take longer. */
const budgetMs: Readonly<Record<WhenModelFails, number>> = { tell: 25_000, extract: 45_000 };
/** Upper limit before the share of dropped sentences is applied: a dropped sentence shows that the model was unsure. */
const evidenceMax = 0.6;

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
        const tell = (whenModelFails === "tell" && lookups.length === 0) || (shown && onToken !== undefined);
        counts.failed(error.kind, tell ? "told" : "extract");
        log.warn(
          { kind: error.kind, reason: error.message, instead: tell ? "told" : "extract" },
          "model: answering failed",
        );
        if (tell) throw problemOf(error);
        return instead.compose(judged, signal);
      }
    },
  };

  async function write(
    { question, found, extract }: ComposeRequest,
    show: (text: string) => void,
    hasShown: () => boolean,
    signal: AbortSignal,
  ): Promise<Answer> {
    const { lookups = [] } = question;
    const passages = extract === undefined ? [] : passagesFor(question, extract.used, found.ranked);
    const turns = question.history.slice(-historyMax);
    // Lookups hold personal data and are masked. The documents are the company's own.
    const masked = maskPersonalData(
      [
        question.text,
        ...lookups.map(({ text: lines }) => lines),
        ...turns.map(({ content }) => content.slice(0, turnCharactersMax)),
      ],
      () => randomBytes(3).toString("hex"),
    );
    const [text = "", ...others] = masked.texts;
    const contents = others.slice(lookups.length);
    const told = [
      ...lookups.map(({ title }, index) => ({ title, url: null, text: withoutCommands(others[index] ?? "") })),
      ...passages.map(({ candidate: { title, text: chunk, url } }) => ({
        title: titleWithoutCommands(title),
        url,
        text: withoutCommands(chunk),
      })),
    ];
    const sources = [...lookups.map(lookupSource), ...passages.map((each) => sourceOf(each, found))];
    const prompt = buildPrompt({
      passages: told,
      history: turns.map(({ role }, index) => ({ role, content: contents[index] ?? "" })),
      question: text,
      strictness: question.strictness,
      marker: randomBytes(12).toString("hex"),
    });
    const evidence = told.map((each) => evidenceOf(each));
    // Lookups are certain.
    const sure = lookups.length > 0 || extract === undefined ? 1 : extract.evidence;
    const preface = bandOf(sure) === "low" ? uncertainPreface(question) : "";
    let answer = "";
    const begin = () => ({
      pieces: createPieces(),
      review: createReview({
        evidence,
        strictness: question.strictness,
        sourcesMax,
        leaks: prompt.leaks,
        judged: masked.withoutPlaceholders,
      }),
    });
    let attempt = begin();
    const say = (piece: string): void => {
      if (piece === "") return;
      const said = `${answer === "" ? preface : ""}${masked.restore(piece)}`;
      answer += said;
      show(said);
    };
    const sink: ModelSink = {
      text: (delta) => say(attempt.review.take(attempt.pieces.feed(delta))),
      restart() {
        if (hasShown()) return false;
        answer = "";
        attempt = begin();
        return true;
      },
    };
    const { temperature = 0, whenModelFails = "extract" } = question;
    const { system, user } = prompt;
    const request = { system, user, temperature, budgetMs: budgetMs[whenModelFails] };
    const written = await model.write(request, sink, signal);
    signal.throwIfAborted();
    const refused = written.finish === "refused";
    const { pieces, review } = attempt;
    if (!refused) say(review.take(pieces.end(written.finish === "length")));
    const { kept, dropped, cited } = review.sum();
    counts.answered(kept, dropped);
    const tokens = { tokensUsed: written.tokensUsed };
    if (kept === 0 && lookups.length > 0) {
      const plain = answerFromLookups(lookups);
      show(plain.text);
      return { ...plain, ...tokens };
    }
    if (kept === 0) {
      const unknown = unknownAnswer(question, found);
      show(unknown.text);
      return { ...unknown, ...tokens };
    }
    const missing = dropped + (written.finish === "complete" ? 0 : 1);
    return {
      ...searched,
      ...tokens,
      text: answer,
      sources: cited.map((index) => sources[index]).filter((each) => each !== undefined),
      ...(passages.length === 0 ? { skillsFired: [] } : {}),
      confidence: bandOf(Math.min(evidenceMax, sure) * (kept / (kept + missing))),
      answered: true,
    };
  }
}

/** The passages of the extracted answer first, then the best ranked, at most `topK`. */
function passagesFor({ topK }: Question, used: readonly Ranked[], ranked: readonly Ranked[]): Ranked[] {
  return [...new Set([...used, ...ranked])].slice(0, topK);
}

function problemOf(failure: ModelFailure): Problem {
  const retry = failure.retryAfterMs === undefined ? {} : { retryAfterS: failure.retryAfterMs / 1_000 };
  const options = { ...retry, cause: failure };
  switch (failure.kind) {
    case "unreachable":
    case "resting":
      return new Problem("provider_down", "The language model cannot be reached now.", options);
    case "timeout":
      return new Problem("upstream_timeout", "The language model did not answer in time.", options);
    case "late":
      return new Problem("query_timeout", "The language model did not finish its answer in time.", options);
    case "limited":
    case "server":
    case "key":
    case "model":
    case "rejected":
    case "broken":
    case "empty":
      return new Problem("model_provider_error", "The language model's provider answered with an error.", options);
  }
}
