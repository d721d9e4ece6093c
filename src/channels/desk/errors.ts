import { DeliveryError } from "#channels/errors.ts";

/** The first message of the desk thread was deleted, so the thread cannot be used. */
export class ThreadGone extends Error {
  constructor(message: string, options?: { readonly cause?: unknown }) {
    super(message, options);
    this.name = "ThreadGone";
  }
}

/** The program cannot see the channel, until an administrator fixes that on the platform. */
export class ChannelGone extends DeliveryError {
  constructor(message: string, options: { readonly retryAfterMs: number }) {
    super("not_sent", message, options);
    this.name = "ChannelGone";
  }
}
