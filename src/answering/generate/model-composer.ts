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
import { guessLanguages } from "#language/detection.ts";
import { languageOfText } from "#answering/understand/asker-language.ts";
import { bandOf, belowHigh } from "#answering/rank/confidence.ts";
import type { Found } from "#answering/rank/search-further.ts";
import { foundByMessage } from "#answering/rank/search-further.ts";
import type { LanguageModel, ModelSink } from "#models/language-model.ts";
import { ModelFailure } from "#models/language-model.ts";
import { problemOf } from "./model-problem.ts";
import { maskPersonalData } from "./personal-data.ts";
import type { Draft } from "./draft.ts";
import { createDraft } from "./draft.ts";
import type { Statement } from "./open-statements.ts";
import type { PromptPassage } from "./prompt.ts";
import { buildPrompt, titleWithoutCommands, withoutCommands } from "./prompt.ts";
import type { StatementChecker } from "./statement-checker.ts";
import { evidenceOf } from "./support.ts";

/** Counters for the metrics endpoint. */
export interface ModelMetrics {
  answered(kept: number, dropped: number): void;
  /** `extract`: the answer consists of the documents' own sentences. `told`: a problem was thrown. */
  failed(kind: ModelFailure["kind"], instead: "told" | "extract"): void;
}

type WhenModelFails = NonNullable<Question["whenModelFails"]>;

const historyMax = 8;
const turnCharactersMax = 1_000;
/** API clients wait 30 seconds at most. Answers for channels may take longer. */
const budgetMs: Readonly<Record<WhenModelFails, number>> = { throw: 25_000, extract: 45_000 };
const allMs: Readonly<Record<WhenModelFails, number>> = { throw: 29_000, extract: 60_000 };
/** Upper limit before the share of dropped sentences is applied: a dropped sentence shows that the model was unsure. */
const evidenceMax = 0.6;
/** With less time left no model checks the statements. */
const checkMsMin = 1_000;
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
  checker,
}: {
  readonly model: LanguageModel;
  readonly instead: Composer;
  readonly log: Log;
  readonly counts: ModelMetrics;
  /** Absent: the comparison of words decides alone about every statement. */
  readonly checker?: StatementChecker | undefined;
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
        const isThrown = (whenModelFails === "throw" && lookups.length === 0) || (shown && onToken !== undefined);
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
    const begun = performance.now();
    const grounds = groundsFor(request, checker !== undefined);
    const budget = Math.min(budgetMs[whenModelFails], allMs[whenModelFails] - request.spentMs);
    const evidence = lookups.length > 0 ? certain : evidenceOfRead(request);
    const preface = bandOf(evidence) === "low" ? uncertainPreface(question) : "";
    let answer = "";
    let draft = beginDraft(grounds, question, checker);
    const add = (text: string): void => {
      if (text === "") return;
      const shown = `${answer === "" ? preface : ""}${grounds.masked.restore(text)}`;
      answer += shown;
      show(shown);
    };
    const sink: ModelSink = {
      text: (delta) => add(draft.feed(delta)),
      restart() {
        if (hasShown()) return false;
        answer = "";
        draft = beginDraft(grounds, question, checker);
        return true;
      },
    };
    const { system, user } = grounds.prompt;
    const modelRequest = { system, user, temperature, budgetMs: budget };
    const written = await model.write(modelRequest, sink, signal);
    signal.throwIfAborted();
    const { finish } = written;
    let { tokensUsed } = written;
    if (finish !== "refused") {
      add(draft.end(finish === "length"));
      const leftMs = budget - (performance.now() - begun);
      const checked = await check(draft.open.waiting(), grounds.texts, leftMs, signal);
      tokensUsed += checked.tokensUsed;
      add(draft.settle(checked.supported));
    }
    const { kept, dropped, cited } = draft.sum();
    counts.answered(kept, dropped);
    if (kept === 0) {
      // The documents' own sentences are true where the model's are not.
      if (lookups.length === 0 && extract !== undefined && finish !== "refused" && !draft.declines()) {
        return { ...(await instead.compose(request, signal)), tokensUsed };
      }
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

  async function check(
    statements: readonly Statement[],
    passages: readonly PromptPassage[],
    leftMs: number,
    signal: AbortSignal,
  ): Promise<{ readonly supported: ReadonlySet<Statement> | undefined; readonly tokensUsed: number }> {
    if (checker === undefined || statements.length === 0 || leftMs < checkMsMin) {
      return { supported: undefined, tokensUsed: 0 };
    }
    return checker.check({ statements, passages, leftMs }, signal);
  }
}

/** The prompt, and the texts that the answer is reviewed against: lookups first, then passages. */
function groundsFor(request: ComposeRequest, mayTranslate: boolean) {
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
  const language = mayTranslate ? foreignLanguage(question, grounds) : undefined;
  const prompt = buildPrompt({
    passages: grounds,
    language,
    history: turns.map(({ role }, index) => ({ role, content: contents[index] ?? "" })),
    question: text,
    strictness: question.strictness,
    marker: randomBytes(12).toString("hex"),
  });
  return {
    prompt,
    masked,
    texts: grounds,
    isTranslated: language !== undefined,
    evidence: grounds.map((each) => evidenceOf(each)),
    sources: [...lookups.map(lookupSource), ...passages.map(({ passage, by }) => sourceOf(passage, by))],
    hasPassages: passages.length > 0,
  };
}

/** The English name of the customer's language, where the passages clearly have another. */
function foreignLanguage(question: Question, passages: readonly PromptPassage[]): string | undefined {
  const { sure, languages } = guessLanguages(passages.map(({ title, text }) => `${title}\n${text}`).join("\n"));
  const asked = languageOfText(question);
  if (!sure || asked === undefined || languages[0] === asked) return undefined;
  return new Intl.DisplayNames("en", { type: "language" }).of(asked);
}

function beginDraft(
  { evidence, prompt, masked, isTranslated }: ReturnType<typeof groundsFor>,
  { strictness, topK }: Question,
  checker: StatementChecker | undefined,
): Draft {
  return createDraft({
    evidence,
    strictness,
    sourcesMax: Math.min(sourcesMax, topK),
    leaks: prompt.leaks,
    judged: masked.withoutPlaceholders,
    checked: checker?.checked,
    isTranslated,
  });
}

/** The words of the question prove nothing about passages of which none makes the extracted answer. */
function evidenceOfRead({ extract, read }: ComposeRequest): number {
  if (extract === undefined) return readEvidence;
  const used = new Set(extract.used.map(({ candidate }) => candidate.chunkId));
  const isRead = read === undefined || read.some(({ passage }) => used.has(passage.candidate.chunkId));
  return isRead ? extract.evidence : Math.min(extract.evidence, readEvidence);
}

function passagesFor({ question, found, extract, read }: ComposeRequest): readonly Found[] {
  if (read !== undefined) return read;
  return extract === undefined ? [] : foundByMessage({ found, extract }).slice(0, question.topK);
}
