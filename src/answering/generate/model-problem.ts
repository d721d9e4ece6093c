import { Problem } from "#domain/problem.ts";
import type { ModelFailure } from "#models/language-model.ts";

/** The error that an API client gets when the language model fails. */
export function problemOf(failure: ModelFailure): Problem {
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
