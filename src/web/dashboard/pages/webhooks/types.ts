/** A webhook endpoint, as `/admin/v1/webhooks` has it. */
export interface Webhook {
  readonly id: string;
  readonly url: string;
  readonly events: readonly string[];
  readonly state: "enabled" | "failing" | "disabled";
  readonly disabled_reason: string | null;
  readonly failing_since: string | null;
  readonly managed_by: "operator" | "file";
  readonly waiting: number;
}

/** One attempt to deliver an event. */
export interface Delivery {
  readonly id: number;
  readonly event_id: string;
  readonly type: string | null;
  readonly attempt: number;
  readonly outcome: "delivered" | "retry" | "given_up" | "disabled";
  readonly at: string;
  readonly duration_ms: number;
  readonly status: number | null;
  readonly error: string | null;
  readonly next_at: string | null;
}

export interface DeliveryDetail extends Delivery {
  readonly request: string | null;
  readonly request_headers: string | null;
  readonly response: string | null;
  readonly response_headers: string | null;
}
