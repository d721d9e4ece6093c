/** Asks the worker to retry, not before `retryAfterMs` milliseconds. */
export class RetryLater extends Error {
  readonly retryAfterMs: number | undefined;

  constructor(message: string, retryAfterMs: number | undefined, cause: unknown) {
    super(message, { cause });
    this.name = "RetryLater";
    this.retryAfterMs = retryAfterMs;
  }
}
