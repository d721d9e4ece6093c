export type DeliveryOutcome =
  /** The platform refuses this for good: not retried, an agent is told. */
  | "rejected"
  /** It surely has not arrived: retried. */
  | "not_sent"
  /** It may have arrived: reconciled, or retried only where sending again is harmless. */
  | "unknown";

/** What the platform said of a send. The message is shown to agents: it never holds a credential. */
export class DeliveryError extends Error {
  readonly outcome: DeliveryOutcome;
  /** Not before this many milliseconds, when the platform asked for it. */
  readonly retryAfterMs: number | undefined;
  /** It was rejected because the customer has not written for too long: it may go by another channel. */
  readonly windowClosed: boolean;

  constructor(
    outcome: DeliveryOutcome,
    message: string,
    options: { readonly retryAfterMs?: number; readonly windowClosed?: boolean; readonly cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "DeliveryError";
    this.outcome = outcome;
    this.retryAfterMs = options.retryAfterMs;
    this.windowClosed = options.windowClosed ?? false;
  }
}
