import type { eventTypes } from "#domain/event-types.ts";

type Type = (typeof eventTypes)[number];

/** When each event is sent, for the list of a webhook's events. docs/webhooks.md says more. */
export const eventMeanings: Readonly<Record<Type, string>> = {
  "conversation.started": "A conversation begins.",
  "conversation.escalated": "It goes from the bot to people.",
  "conversation.claimed": "An agent takes it.",
  "conversation.snoozed": "It is snoozed.",
  "conversation.resolved": "An agent or the clock resolves it.",
  "conversation.archived": "It is archived.",
  "conversation.reopened": "It is open again.",
  "conversation.released": "The agent gives it back to the bot.",
  "conversation.deescalated": "It goes back to the bot before an agent took it.",
  "conversation.unsnoozed": "A snooze ends.",
  "conversation.assigned": "An agent gets it, by a claim or from another agent.",
  "conversation.notice": "A rule wants the agents to know something.",
  "conversation.updated": "Its tags, its priority or its customer change.",
  "conversation.merged": "It moves to another contact of the same customer.",
  "conversation.deleted": "It is deleted.",
  "message.created": "The customer, the bot or an agent writes.",
  "message.updated": "A message is edited or taken back, or somebody reacts to it.",
  "message.delivery_failed": "A message did not reach the customer, or may not have.",
  "rating.created": "A customer rates a conversation.",
  "rating.updated": "A customer adds a comment to a rating.",
  "note.created": "An internal note is added.",
  "sla.at_risk": "A customer has waited for 80 percent of the target.",
  "sla.breached": "A customer has waited for the whole target.",
  "contact.updated": "A customer's details change.",
  "document.indexed": "A document can be found, or a crawl has changed what is found.",
  "document.failed": "A document could not be read, or a crawl has failed.",
};
