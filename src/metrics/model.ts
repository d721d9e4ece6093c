import type { Registry } from "prom-client";
import { Counter } from "prom-client";
import type { ModelMetrics } from "#answering/generate/model-composer.ts";

/** Metrics of the language model in this registry. Commands pass none, and nothing is counted. */
export function createModelMetrics(register?: Registry): ModelMetrics {
  const registers = register === undefined ? [] : [register];
  const answers = new Counter({
    name: "parley_model_answers_total",
    help: "Answers that a language model has written; unsupported: none of it could be shown.",
    labelNames: ["outcome"],
    registers,
  });
  const sentences = new Counter({
    name: "parley_model_sentences_total",
    help: "Sentences that a language model has written, by whether a cited passage supports them.",
    labelNames: ["outcome"],
    registers,
  });
  const failures = new Counter({
    name: "parley_model_failures_total",
    help: "Questions that the language model did not answer, by why, and by what happened instead.",
    labelNames: ["kind", "instead"],
    registers,
  });
  return {
    answered(kept, dropped) {
      answers.inc({ outcome: kept > 0 ? "supported" : "unsupported" });
      sentences.inc({ outcome: "kept" }, kept);
      sentences.inc({ outcome: "dropped" }, dropped);
    },
    failed: (kind, instead) => failures.inc({ kind, instead }),
  };
}
