/** Work that is to be tried again; the worker decides when, not before `retryAfterMs`. */
export class RetryLater extends Error {
  readonly retryAfterMs: number | undefined;

  constructor(message: string, retryAfterMs: number | undefined, cause: unknown) {
    super(message, { cause });
    this.name = "RetryLater";
    this.retryAfterMs = retryAfterMs;
  }
}
