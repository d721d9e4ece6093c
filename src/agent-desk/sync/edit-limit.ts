import { DeliveryError } from "#channels/errors.ts";

/** The desk takes no changes of what it shows for so long. */
export class EditRateLimited extends Error {
  readonly afterMs: number;

  constructor({ message, retryAfterMs = 0 }: DeliveryError) {
    super(message);
    this.name = "ChangeLimited";
    this.afterMs = retryAfterMs;
  }
}

/** Changes what is shown; what the desk does not take is passed to `refused`. */
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
