export type DeliveryOutcome =
  /** The platform refuses it permanently: not retried, and shown to agents. */
  | "rejected"
  /** It was certainly not delivered: retried. */
  | "not_sent"
  /** It may have been delivered: reconciled, or retried only where a second send is harmless. */
  | "unknown";

/** A failed platform call. The message is shown to agents, so it must not contain a credential. */
export class DeliveryError extends Error {
  readonly outcome: DeliveryOutcome;
  /** Milliseconds to wait before the next attempt, where the platform asked for it. */
  readonly retryAfterMs: number | undefined;
  /** Rejected because the reply window is closed: another channel may take the message. */
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
