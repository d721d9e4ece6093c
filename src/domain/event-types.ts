/** What an endpoint is told of that does not say otherwise. */
export const defaultEventTypes = [
  "conversation.started",
  "conversation.escalated",
  "conversation.claimed",
  "conversation.snoozed",
  "conversation.resolved",
  "conversation.archived",
  "conversation.reopened",
] as const;

/** What an endpoint can ask for. */
export const eventTypes = [
  ...defaultEventTypes,
  "conversation.released",
  "conversation.deescalated",
  "conversation.unsnoozed",
  "conversation.assigned",
  "conversation.notice",
  "message.created",
  "message.updated",
  "message.delivery_failed",
  "document.indexed",
  "document.failed",
] as const;

/** `webhook.test` is sent when an operator asks for it, whatever the endpoint wants. */
export type EventType = (typeof eventTypes)[number] | "webhook.test";

export type ConversationEventType = Exclude<EventType, "document.indexed" | "document.failed" | "webhook.test">;
