/** How each topic is handled. Topics that are missing here are ignored: they carry no messages and no change of state. */
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
  // Bots and workflows: their texts are ignored, closing a conversation counts.
  "conversation.operator.replied": "conversation",
  "conversation.deleted": "deleted",
  // A teammate wrote first; the conversation starts here when the customer answers.
  "conversation.admin.single.created": "ignored",
  "conversation.contact.attached": "ignored",
  "conversation.contact.detached": "ignored",
  "conversation.priority.updated": "ignored",
  "conversation.rating.added": "ignored",
  "conversation.read": "ignored",
  "conversation_part.tag.created": "ignored",
  // Sent by "Send test request" in the Developer Hub.
  ping: "ignored",
};

/** The topics that an admin must subscribe to. */
export const neededTopics: readonly string[] = Object.keys(topics).filter((topic) => topics[topic] !== "ignored");
