import type { Generated } from "kysely";
import type { EventType } from "#domain/event-types.ts";

export interface WebhooksTable {
  id: string;
  workspace_id: string;
  url: string;
  /** Encrypted. */
  secret: string;
  /** JSON array of event types. */
  events: string;
  disabled_at: number | null;
  disabled_reason: string | null;
  /** `file`: the endpoint is defined by the configuration file. */
  managed_by: Generated<"operator" | "file">;
  /** Encrypted. Signs in addition to `secret` until `previous_until`. */
  previous_secret: string | null;
  previous_until: number | null;
  /** The first and the newest failure since the last success; null after a success. */
  failing_since: number | null;
  failed_at: number | null;
  created_at: number;
}

/** An emitted event. Immutable; deleted with its conversation or contact, or after its retention time. */
export interface EventsTable {
  position: Generated<number>;
  id: string;
  workspace_id: string;
  type: EventType;
  /** The conversation, contact or document of the event; for a test event, the endpoint. */
  subject_id: string;
  /** Number within the conversation; null for other events. */
  sequence: number | null;
  /** The request's body, byte for byte. */
  payload: string;
  created_at: number;
}

/** Events to deliver. The events of one subject go to one endpoint in the order of these ids. */
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

/** One attempt to deliver an event. */
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
  /** The beginning of the response's body. */
  response: string | null;
  /** Lines of `name: value`, at most 4,000 characters. Null: no answer, or a version that did not store them. */
  request_headers: Generated<string | null>;
  response_headers: Generated<string | null>;
  next_at: number | null;
}
