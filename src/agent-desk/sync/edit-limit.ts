import { DeliveryError } from "#channels/errors.ts";

/** The platform accepts no edits of posts for `afterMs` milliseconds. */
export class EditRateLimited extends Error {
  readonly afterMs: number;

  constructor({ message, retryAfterMs = 0 }: DeliveryError) {
    super(message);
    this.name = "ChangeLimited";
    this.afterMs = retryAfterMs;
  }
}

/** Runs an edit of a post. Calls `refused` if the platform rejects it. */
export async function withEditLimit(run: () => Promise<void>, refused: (error: DeliveryError) => void): Promise<void> {
  try {
    await run();
  } catch (error) {
    if (!(error instanceof DeliveryError)) throw error;
    if (error.outcome === "not_sent" && error.retryAfterMs !== undefined) throw new EditRateLimited(error);
    if (error.outcome !== "rejected") throw error;
    refused(error);
  }
}
