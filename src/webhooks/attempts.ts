import type { Tx } from "#database/contract.ts";
import type { AttemptOutcome } from "#database/schema/webhooks.ts";
import type { Posted } from "./post.ts";

/** Logs a delivery attempt. */
export async function insertAttempt(
  tx: Tx,
  {
    endpointId,
    eventId,
    attempt,
    outcome,
    next,
    posted,
  }: {
    readonly endpointId: string;
    readonly eventId: string;
    readonly attempt: number;
    readonly outcome: AttemptOutcome;
    readonly next: number | null;
    readonly posted: Posted;
  },
): Promise<void> {
  await tx
    .insertInto("webhook_attempts")
    .values({
      endpoint_id: endpointId,
      event_id: eventId,
      attempt,
      outcome,
      at: posted.at,
      duration_ms: posted.durationMs,
      status: posted.status,
      error: posted.error,
      response: posted.response,
      request_headers: posted.requestHeaders,
      response_headers: posted.responseHeaders,
      next_at: next,
    })
    .execute();
}
