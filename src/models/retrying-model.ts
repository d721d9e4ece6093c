import type { LanguageModel, ModelFailureKind, ModelRequest, ModelSink, Written } from "./language-model.ts";
import { ModelFailure } from "./language-model.ts";
import type { Clock } from "#runtime/clock.ts";
import type { Provider } from "./provider.ts";

export interface PatientModel extends LanguageModel {
  /** Why it does not answer now, in words for the operator; null: nothing is known against it. */
  trouble(): string | null;
}

const triesMax = 3;
const firstTokenMs = 10_000;
const idleMs = 10_000;
const backoffMs = 500;
const tokensMax = 4_096;
/** No answer is that long; what goes on and on is cut. */
const charactersMax = 24_000;

/** After so many calls in a row that failed, it is left alone for a while: each would keep a customer waiting. */
const failuresToRest = 3;
const restMs = 30_000;
const restMaxMs = 300_000;

/** Worth another try at once. */
const passing: ReadonlySet<ModelFailureKind> = new Set([
  "unreachable",
  "timeout",
  "limited",
  "server",
  "broken",
  "empty",
]);
/** Not the fault of this one question, so the next is likely to fail too. */
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

/** Tries again what may pass, waits for nothing for too long, and leaves a provider alone that does not recover. */
export function createPatientModel(provider: Provider, clock: Clock): PatientModel {
  let failures = 0;
  let restUntil = 0;
  /** One call looks whether it is well again; the others need not wait for that. */
  let trying = false;
  let last: ModelFailure | undefined;

  return {
    async write(request, sink, signal) {
      signal.throwIfAborted();
      const resting = failures >= failuresToRest;
      if (resting && (trying || clock.now() < restUntil)) {
        throw new ModelFailure(
          "resting",
          `the language model is not asked for a while after ${failures} failures in a row; the last: ${last?.message ?? ""}`,
          Math.max(1_000, restUntil - clock.now()),
        );
      }
      if (resting) trying = true;
      try {
        const written = await tries(request, sink, signal);
        failures = 0;
        last = undefined;
        return written;
      } catch (error) {
        if (error instanceof ModelFailure && lasting.has(error.kind)) {
          failures += 1;
          last = error;
          const rest = Math.min(restMaxMs, restMs * 2 ** Math.max(0, failures - failuresToRest));
          restUntil = clock.now() + rest;
        }
        throw error;
      } finally {
        if (resting) trying = false;
      }
    },
    trouble: () => last?.message ?? null,
  };

  async function tries(request: ModelRequest, sink: ModelSink, signal: AbortSignal): Promise<Written> {
    const end = clock.now() + request.budgetMs;
    let tokensUsed = 0;
    let silence: ModelFailure | undefined;
    for (let attempt = 1; ; attempt += 1) {
      try {
        const written = await once(request, sink, signal, end - clock.now());
        return { finish: written.finish, tokensUsed: tokensUsed + written.tokensUsed };
      } catch (error) {
        if (!(error instanceof ModelFailure)) throw error;
        // A model that was silent in an earlier try is not slow, but silent.
        if (error.kind === "late" && silence !== undefined) throw silence;
        if (error.kind === "timeout") silence = error;
        if (error instanceof EmptyAnswer) tokensUsed += error.tokensUsed;
        const wait = Math.max(backoffMs * 2 ** (attempt - 1) * (0.75 + Math.random() / 2), error.retryAfterMs ?? 0);
        const again = passing.has(error.kind) && attempt < triesMax && clock.now() + wait < end;
        if (!again || !sink.restart()) throw error;
        await pause(wait, signal);
      }
    }
  }

  function pause(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const stop = clock.timer(ms, () => {
        signal.removeEventListener("abort", onAbort);
        resolve();
      });
      const onAbort = (): void => {
        stop();
        reject(signal.reason as Error);
      };
      signal.addEventListener("abort", onAbort, { once: true });
      if (signal.aborted) onAbort();
    });
  }

  /** One call, which ends when the provider is silent for too long, whether it hears the abort or not. */
  async function once(request: ModelRequest, sink: ModelSink, signal: AbortSignal, budgetMs: number): Promise<Written> {
    const stop = new AbortController();
    const ended = Promise.withResolvers<never>();
    // Nobody may be listening any more when it comes.
    ended.promise.catch(() => undefined);
    const fail = (reason: Error): void => {
      stop.abort(reason);
      ended.reject(reason);
    };
    const onAbort = (): void => fail(signal.reason as Error);
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) onAbort();
    const silentFor = (ms: number) => (): void =>
      fail(new ModelFailure("timeout", `the model was silent for ${ms / 1_000} seconds`));
    const stopBudget = clock.timer(Math.max(0, budgetMs), () => {
      fail(new ModelFailure("late", "the model took too long for its answer"));
    });
    let stopIdle = clock.timer(firstTokenMs, silentFor(firstTokenMs));
    const parts = provider({ ...request, tokensMax }, stop.signal)[Symbol.asyncIterator]();
    try {
      let characters = 0;
      for (;;) {
        const next = await Promise.race([parts.next(), ended.promise]);
        if (next.done === true) throw new ModelFailure("broken", "the model's answer ended in the middle");
        const part = next.value;
        stopIdle();
        if (part.kind === "end") {
          if (characters === 0 && part.finish !== "refused") throw new EmptyAnswer(part.tokensUsed);
          return { finish: part.finish, tokensUsed: part.tokensUsed };
        }
        stopIdle = clock.timer(idleMs, silentFor(idleMs));
        if (part.kind === "text") {
          characters += part.text.trim().length;
          if (characters > charactersMax) return { finish: "length", tokensUsed: 0 };
          sink.text(part.text);
        } else if (part.kind === "call") {
          characters += 1;
          sink.call?.(part.name, part.input);
        }
      }
    } finally {
      stopIdle();
      stopBudget();
      signal.removeEventListener("abort", onAbort);
      // Ends the request where it still runs.
      stop.abort(new ModelFailure("broken", "not needed any more"));
      void Promise.resolve(parts.return?.()).catch(() => undefined);
    }
  }
}

class EmptyAnswer extends ModelFailure {
  readonly tokensUsed: number;

  constructor(tokensUsed: number) {
    super("empty", "the model answered with nothing");
    this.tokensUsed = tokensUsed;
  }
}
