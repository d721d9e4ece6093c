/** Events of an endpoint that names none. */
export const defaultEventTypes = [
  "conversation.started",
  "conversation.escalated",
  "conversation.claimed",
  "conversation.snoozed",
  "conversation.resolved",
  "conversation.archived",
  "conversation.reopened",
] as const;

/** Events that an endpoint can subscribe to. */
export const eventTypes = [
  ...defaultEventTypes,
  "conversation.released",
  "conversation.deescalated",
  "conversation.unsnoozed",
  "conversation.assigned",
  "conversation.notice",
  "conversation.updated",
  "conversation.merged",
  "conversation.deleted",
  "message.created",
  "message.updated",
  "message.delivery_failed",
  "rating.created",
  "rating.updated",
  "note.created",
  "sla.at_risk",
  "sla.breached",
  "contact.updated",
  "document.indexed",
  "document.failed",
] as const;

/** `webhook.test` is sent on request of an administrator, whatever the endpoint subscribes to. */
export type EventType = (typeof eventTypes)[number] | "webhook.test";

export type ConversationEventType = Exclude<
  EventType,
  "contact.updated" | "document.indexed" | "document.failed" | "webhook.test"
>;

/** The parts of a conversation whose changes `conversation.updated` names. */
export const changedParts = ["customer", "priority", "tags"] as const;
export type ChangedPart = (typeof changedParts)[number];
