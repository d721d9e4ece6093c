import type { Duration, Metric } from "#domain/reporting/metrics.ts";

const messages =
  "Stored messages by their author. Messages of rules count as the bot's. An edit or a deletion changes nothing.";

const times = {
  first_reply: "Time from the start of a conversation to its first message by the bot or an agent.",
  person_reply: "Time from a hand-over to the first message by an agent.",
  resolution: "Time from the start, or the last reopening, to the resolve.",
} as const satisfies Readonly<Record<Duration, string>>;

export const percentile = "Nine of ten were as fast or faster.";
export const precision = "Exact to 5 percent.";
export const place = "An event counts on its day and in its hour, in the workspace's time zone.";

const median = (duration: Duration): string => `${times[duration]} ${precision}`;
const p90 = (duration: Duration): string => `${times[duration]} ${percentile} ${precision}`;

const score = (value: number): string => `Ratings of ${value}, from 1 (poor) to 5 (very good).`;

/** The same as in docs/reports.md; a test compares them. */
export const definitions: Readonly<Record<Metric, string>> = {
  conversations: "Conversations that customers started.",
  messages_by_customers: messages,
  messages_by_bot: messages,
  messages_by_agents: messages,
  unanswered: "Questions for which the bot found no answer in the documents.",
  assigned: "Times that a conversation got an agent or another agent.",
  handed_over: "Times that a conversation with the bot was handed over to people.",
  handed_over_asked: "Hand-overs because the customer asked for a person.",
  handed_over_low_confidence: "Hand-overs because several answers in a row had low confidence.",
  handed_over_anger: "Hand-overs because the customer seemed to be angry.",
  handed_over_rule: "Hand-overs by an automation rule.",
  handed_over_other: "Hand-overs by an agent or an API client, or because the message was not for the bot.",
  resolved:
    "Times that an open conversation was resolved, by anyone or after days without a message. A resolve that an agent takes back does not count.",
  resolved_by_bot:
    "Resolved conversations in which the bot had replied, and which were neither handed over, nor claimed or answered by an agent, since they were started or last reopened. A later reopening does not change the number.",
  reopened: "Times that a resolved or archived conversation became live again.",
  sla_met: "Resolved conversations that waited in open and escalated for less than the target of their priority.",
  sla_missed: "Resolved conversations that waited in open and escalated for the target of their priority, or longer.",
  surveys: "Surveys sent after a resolve. A conversation gets one.",
  ratings: "Ratings that customers gave in reply. They count on the day of the rating.",
  rated_1: score(1),
  rated_2: score(2),
  rated_3: score(3),
  rated_4: score(4),
  rated_5: score(5),
  first_reply_median: median("first_reply"),
  first_reply_p90: p90("first_reply"),
  person_reply_median: median("person_reply"),
  person_reply_p90: p90("person_reply"),
  resolution_median: median("resolution"),
  resolution_p90: p90("resolution"),
};
