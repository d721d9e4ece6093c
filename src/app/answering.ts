import type { Registry } from "prom-client";
import { createAnswerer, extractiveComposer } from "#answering/answerer.ts";
import { createBudgetedAnswerer } from "#answering/budgeted-answerer.ts";
import { createAngerJudge } from "#answering/classify/anger-judge.ts";
import type { Answerer, JudgeAnger } from "#answering/contract.ts";
import { createModelComposer } from "#answering/generate/model-composer.ts";
import { createQueryWriter } from "#answering/generate/query-writer.ts";
import { createPassageChoice } from "#answering/rank/chosen-passages.ts";
import { createStatementChecker } from "#answering/generate/statement-checker.ts";
import type { Config } from "#config/environment.ts";
import type { Store } from "#database/contract.ts";
import type { KnowledgeIndex } from "#knowledge/index/contract.ts";
import { createModelMetrics } from "#metrics/model.ts";
import type { GuardedFetch } from "#outbound/guarded-fetch.ts";
import type { Clock } from "#runtime/clock.ts";
import type { Log } from "#runtime/log.ts";
import type { Secrets } from "#runtime/secrets.ts";
import { createLookUps } from "#skills/look-up.ts";
import { createSkilledAnswerer } from "#skills/skilled-answerer.ts";
import { createModelUsage } from "./model-usage.ts";

interface AnsweringParts {
  readonly config: Config;
  readonly store: Store;
  readonly secrets: Secrets;
  readonly guardedFetch: GuardedFetch;
  readonly index: KnowledgeIndex;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Registry | undefined;
}

export interface Answering {
  readonly answerer: Answerer;
  readonly judgeAnger: JudgeAnger;
  /** Says why the language model does not answer, or null. Undefined without a model. */
  modelTrouble(): string | null | undefined;
  /** Undefined without a reranker. */
  rerankerTrouble(): string | null | undefined;
}

/** Puts the answerer together, with or without a language model. */
export async function createAnswering(parts: AnsweringParts): Promise<Answering> {
  const { config, store, secrets, guardedFetch, index, clock, log, metrics } = parts;
  // The packages of models are large, so they are loaded only when there is a model.
  const model = config.model && (await import("#models/model.ts")).createModel(config.model, clock);
  // Created without a model too, so that its counters are shown with the value 0.
  const counts = createModelMetrics(metrics);
  const extractive = createAnswerer({ index, composer: extractiveComposer });
  const lookUps = createLookUps({
    store,
    clock,
    guardedFetch,
    seal: (plain) => secrets.seal(plain),
    open: (sealed) => secrets.open(sealed),
  });
  const withoutModel = createSkilledAnswerer({ documents: extractive, lookUps, model: undefined, clock, log });
  const judgeAnger = createAngerJudge({ model, log });
  if (model === undefined)
    return { answerer: withoutModel, judgeAnger, modelTrouble: () => undefined, rerankerTrouble: () => undefined };
  const checked = config.model?.check ?? "doubtful";
  const checker = checked === "words" ? undefined : createStatementChecker({ model, checked, log });
  const reranker = config.reranker && (await import("#models/reranker.ts")).createReranker(config.reranker, clock);
  const documents = createAnswerer({
    index,
    composer: createModelComposer({ model, instead: extractiveComposer, log, counts, checker }),
    queryWriter: createQueryWriter({ model, log, counts }),
    ...(reranker === undefined ? {} : { choosePassages: createPassageChoice(reranker, log) }),
  });
  return {
    answerer: createBudgetedAnswerer({
      withModel: createSkilledAnswerer({ documents, lookUps, model, clock, log }),
      withoutModel,
      usage: createModelUsage({ store, clock, log }),
    }),
    judgeAnger,
    modelTrouble: () => model.trouble(),
    rerankerTrouble: () => reranker?.trouble(),
  };
}
