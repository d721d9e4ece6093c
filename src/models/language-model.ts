/** A language model as answers need it. What it writes is not trusted. */
export interface LanguageModel {
  /** Throws {@link ModelFailure}, or the signal's reason. */
  write(request: ModelRequest, sink: ModelSink, signal: AbortSignal): Promise<Written>;
}

export interface ModelRequest {
  readonly system: string;
  readonly user: string;
  readonly temperature: number;
  /** All tries together. */
  readonly budgetMs: number;
  /** What it may call; nothing runs by itself, the sink is told. */
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
  /** It calls a tool; the input is as it made it, unchecked. */
  call?(name: string, input: unknown): void;
  /** The try failed, and another would begin anew. False: too late, something of it was shown. */
  restart(): boolean;
}

export interface Written {
  /** `length`: cut off at the limit; `refused`: the provider or the model would not answer. */
  readonly finish: "complete" | "length" | "refused";
  /** As the provider reports, over all tries; 0 where it does not. */
  readonly tokensUsed: number;
}

export type ModelFailureKind =
  /** No connection. */
  | "unreachable"
  /** Connected, and silent for too long. */
  | "timeout"
  /** It was still writing when the time for an answer was over. */
  | "late"
  | "limited"
  | "server"
  | "key"
  | "model"
  | "rejected"
  /** What it answers cannot be read, or ends in the middle. */
  | "broken"
  | "empty"
  /** Not asked, since it has failed again and again a moment ago. */
  | "resting";

/**
 * Why a model has not answered, in words for the operator. It never holds what the provider said, nor a cause that does:
 * that can repeat headers, the key, and what the customer wrote.
 */
export class ModelFailure extends Error {
  readonly kind: ModelFailureKind;
  /** When it is worth another try, where that is known. */
  readonly retryAfterMs: number | undefined;

  constructor(kind: ModelFailureKind, message: string, retryAfterMs?: number) {
    super(message);
    this.name = "ModelFailure";
    this.kind = kind;
    this.retryAfterMs = retryAfterMs;
  }
}
