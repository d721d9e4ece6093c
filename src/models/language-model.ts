/** A language model. Its output is not trusted. */
export interface LanguageModel {
  /** Throws {@link ModelFailure}, or the signal's reason. */
  write(request: ModelRequest, sink: ModelSink, signal: AbortSignal): Promise<Written>;
}

export interface ModelRequest {
  readonly system: string;
  readonly user: string;
  readonly temperature: number;
  /** Time for all attempts together. */
  readonly budgetMs: number;
  /** The budget is short: a model that writes beyond it is slow, and has not failed. */
  readonly isBrief?: true;
  /** Tools that the model may call; calls are passed to the sink, and nothing runs by itself. */
  readonly tools?: readonly ModelTool[];
}

export interface ModelTool {
  readonly name: string;
  readonly description: string;
  /** JSON schema of an object. */
  readonly schema: Readonly<Record<string, unknown>>;
}

export interface ModelSink {
  text(delta: string): void;
  /** The model calls a tool; the input is unchecked. */
  call?(name: string, input: unknown): void;
  /** Called before a retry, which writes the whole text again. False: text was already shown, so no retry. */
  restart(): boolean;
}

export interface Written {
  /** `length`: cut off at the limit; `refused`: the provider or the model refused to answer. */
  readonly finish: "complete" | "length" | "refused";
  /** Tokens reported by the provider, over all attempts; 0 if it reports none. */
  readonly tokensUsed: number;
}

export type ModelFailureKind =
  /** No connection. */
  | "unreachable"
  /** Connected, and silent for too long. */
  | "timeout"
  /** The model was still writing when the time was over. */
  | "late"
  | "limited"
  | "server"
  | "key"
  | "model"
  | "rejected"
  /** The answer cannot be read, or is incomplete. */
  | "broken"
  | "empty"
  /** Not called, after several failures in a row. */
  | "resting";

/**
 * The message is for the operator. Neither message nor cause may hold the provider's text, which can repeat headers, the
 * key and the customer's words.
 */
export class ModelFailure extends Error {
  readonly kind: ModelFailureKind;
  /** Undefined where the provider does not say it. */
  readonly retryAfterMs: number | undefined;

  constructor(kind: ModelFailureKind, message: string, retryAfterMs?: number) {
    super(message);
    this.name = "ModelFailure";
    this.kind = kind;
    this.retryAfterMs = retryAfterMs;
  }
}
