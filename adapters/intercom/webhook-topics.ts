/**
 * What Intercom tells, and what comes of it. What is not here is passed over: it says nothing of what customers and
 * teammates write to each other, or of how a conversation stands.
 */
export const topics: Readonly<Record<string, "conversation" | "deleted" | "ignored">> = {
  "conversation.user.created": "conversation",
  "conversation.user.replied": "conversation",
  "conversation.admin.replied": "conversation",
  "conversation.admin.noted": "conversation",
  "conversation.admin.assigned": "conversation",
  "conversation.admin.open.assigned": "conversation",
  "conversation.admin.closed": "conversation",
  "conversation.admin.opened": "conversation",
  "conversation.admin.snoozed": "conversation",
  "conversation.admin.unsnoozed": "conversation",
  "conversation_part.redacted": "conversation",
  // Bots and workflows: their words are passed over, what they close is not.
  "conversation.operator.replied": "conversation",
  "conversation.deleted": "deleted",
  // Written by a teammate first; it becomes a conversation here when the customer answers.
  "conversation.admin.single.created": "ignored",
  "conversation.contact.attached": "ignored",
  "conversation.contact.detached": "ignored",
  "conversation.priority.updated": "ignored",
  "conversation.rating.added": "ignored",
  "conversation.read": "ignored",
  "conversation_part.tag.created": "ignored",
  // "Send test request" in the Developer Hub.
  ping: "ignored",
};

/** What a new account has to be told of, for its operator. */
export const neededTopics: readonly string[] = Object.keys(topics).filter((topic) => topics[topic] !== "ignored");
