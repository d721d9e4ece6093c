import type { Generated } from "kysely";
import type { EventType } from "#domain/event-types.ts";

export interface WebhooksTable {
  id: string;
  workspace_id: string;
  url: string;
  /** Sealed. */
  secret: string;
  /** JSON array of event types. */
  events: string;
  disabled_at: number | null;
  disabled_reason: string | null;
  /** `file`: the configuration file says what it is. */
  managed_by: Generated<"operator" | "file">;
  /** Sealed. Signs beside `secret` until `previous_until`. */
  previous_secret: string | null;
  previous_until: number | null;
  /** The first and the newest failure since the last success; null after a success. */
  failing_since: number | null;
  failed_at: number | null;
  created_at: number;
}

/** What happened, as it is told: never changed, deleted with its conversation and at the end of its time. */
export interface EventsTable {
  position: Generated<number>;
  id: string;
  workspace_id: string;
  type: EventType;
  /** The conversation or document that it tells of; of a test, the endpoint. */
  subject_id: string;
  /** Within the conversation; null where the event is not about one. */
  sequence: number | null;
  /** The body that is sent, byte for byte. */
  payload: string;
  created_at: number;
}

/** What is still to be sent. The events of one subject go to one endpoint in the order of these ids. */
export interface WebhookQueueTable {
  id: Generated<number>;
  endpoint_id: string;
  subject_id: string;
  event_id: string;
  due_at: number;
  attempts: number;
  created_at: number;
}

export type AttemptOutcome = "delivered" | "retry" | "given_up" | "disabled";

/** One try at sending an event. */
export interface WebhookAttemptsTable {
  id: Generated<number>;
  endpoint_id: string;
  event_id: string;
  attempt: number;
  outcome: AttemptOutcome;
  at: number;
  duration_ms: number;
  status: number | null;
  error: string | null;
  /** The beginning of the answer's body. */
  response: string | null;
  next_at: number | null;
}
