import type { Clock } from "#runtime/clock.ts";
import type { ModelRequest, ModelSink, Written } from "./language-model.ts";
import { ModelFailure } from "./language-model.ts";
import type { Provider } from "./provider.ts";

const firstTokenMs = 10_000;
const idleMs = 10_000;
const tokensMax = 4_096;
/** Longer answers are cut off. */
const charactersMax = 24_000;

export class EmptyAnswer extends ModelFailure {
  readonly tokensUsed: number;

  constructor(tokensUsed: number) {
    super("empty", "the model answered with nothing");
    this.tokensUsed = tokensUsed;
  }
}

/** One call. It ends when the provider is silent for too long, even if the provider ignores the abort. */
export async function callProvider(
  provider: Provider,
  clock: Clock,
  { request, budgetMs }: { readonly request: ModelRequest; readonly budgetMs: number },
  sink: ModelSink,
  signal: AbortSignal,
): Promise<Written> {
  const stop = new AbortController();
  const ended = Promise.withResolvers<never>();
  // The rejection may come when the race is over.
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
    // Ends a request that is still running.
    stop.abort(new ModelFailure("broken", "not needed any more"));
    void Promise.resolve(parts.return?.()).catch(() => undefined);
  }
}
