import { delay } from "#runtime/abort.ts";
import type { Clock } from "#runtime/clock.ts";
import { createCircuitBreaker } from "./circuit-breaker.ts";
import type { LanguageModel, ModelFailureKind, ModelRequest, ModelSink, Written } from "./language-model.ts";
import { ModelFailure } from "./language-model.ts";
import { callProvider, EmptyAnswer } from "./provider-call.ts";
import type { Provider } from "./provider.ts";

export interface RetryingModel extends LanguageModel {
  /** The last failure, for the operator; null after a success. */
  trouble(): string | null;
}

const triesMax = 3;
const backoffMs = 500;

/** Failures that are retried at once. */
const passing: ReadonlySet<ModelFailureKind> = new Set([
  "unreachable",
  "timeout",
  "limited",
  "server",
  "broken",
  "empty",
]);
/** Failures that the next question is likely to meet too. */
const lasting: ReadonlySet<ModelFailureKind> = new Set([
  "unreachable",
  "timeout",
  "late",
  "limited",
  "server",
  "key",
  "model",
  "broken",
]);

/** Retries passing failures within the request's budget. After several failed requests it rejects further ones for a while. */
export function createRetryingModel(provider: Provider, clock: Clock): RetryingModel {
  const breaker = createCircuitBreaker(clock);
  /** A request is trying whether the provider has recovered; others are rejected meanwhile. */
  let probing = false;

  return {
    async write(request, sink, signal) {
      signal.throwIfAborted();
      const isProbe = breaker.isOpen();
      if (isProbe && (probing || breaker.waitMs() > 0)) {
        throw new ModelFailure(
          "resting",
          `the language model is not called for a while after several failures in a row; the last: ${breaker.trouble() ?? ""}`,
          Math.max(1_000, breaker.waitMs()),
        );
      }
      if (isProbe) probing = true;
      try {
        const written = await writeWithRetries(request, sink, signal);
        breaker.succeeded();
        return written;
      } catch (error) {
        const isSlow = error instanceof ModelFailure && error.kind === "late" && request.isBrief === true;
        if (error instanceof ModelFailure && lasting.has(error.kind) && !isSlow) breaker.failed(error.message);
        throw error;
      } finally {
        if (isProbe) probing = false;
      }
    },
    trouble: breaker.trouble,
  };

  async function writeWithRetries(request: ModelRequest, sink: ModelSink, signal: AbortSignal): Promise<Written> {
    const end = clock.now() + request.budgetMs;
    let tokensUsed = 0;
    let silence: ModelFailure | undefined;
    for (let attempt = 1; ; attempt += 1) {
      try {
        const written = await callProvider(provider, clock, { request, budgetMs: end - clock.now() }, sink, signal);
        return { finish: written.finish, tokensUsed: tokensUsed + written.tokensUsed };
      } catch (error) {
        if (!(error instanceof ModelFailure)) throw error;
        // A model that was silent in an earlier attempt is silent, not slow.
        if (error.kind === "late" && silence !== undefined) throw silence;
        if (error.kind === "timeout") silence = error;
        if (error instanceof EmptyAnswer) tokensUsed += error.tokensUsed;
        const ms = Math.max(backoffMs * 2 ** (attempt - 1) * (0.75 + Math.random() / 2), error.retryAfterMs ?? 0);
        const isRetried = passing.has(error.kind) && attempt < triesMax && clock.now() + ms < end;
        if (!isRetried || !sink.restart()) throw error;
        await delay(clock, ms, signal);
      }
    }
  }
}
