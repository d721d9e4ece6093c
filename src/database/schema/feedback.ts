import type { Generated } from "kysely";
import type { Channel } from "#domain/conversation/message.ts";

/** A boolean, as both databases store it. */
type Flag = 0 | 1;

/** A customer's opinion of one answer of the bot. */
export interface AnswerFeedbackTable {
  message_id: string;
  /** The customer's key on the platform. Several customers can write in one thread. */
  sender: string;
  conversation_id: string;
  /** Null: taken back. */
  value: "up" | "down" | null;
  /** The platform's time. An earlier opinion that arrives late is ignored. */
  at: number;
}

/** A reaction to a message. A thumb on an answer of the bot is an opinion instead. */
export interface ReactionsTable {
  message_id: string;
  role: "user" | "agent";
  /** The customer's key on the platform, or the agent's address. */
  author: string;
  /** A platform's own pictures have a name, such as `:party:`. */
  emoji: string;
  conversation_id: string;
  author_name: string | null;
  /** The platform's time. */
  at: number;
}

/** A customer's message that was not answered well, and the reasons. */
export interface WeakAnswersTable {
  /** The customer's message. */
  message_id: string;
  workspace_id: string;
  conversation_id: string;
  channel: Channel;
  asked_at: number;
  /** The bot found no answer. */
  refused: Generated<Flag>;
  /** The answer had low confidence. */
  unsure: Generated<Flag>;
  /** A customer gave the answer a thumb down. */
  disliked: Generated<Flag>;
  /** People took over within the next turns of the customer. */
  handed_over: Generated<Flag>;
  /** The stems of the question, separated by spaces; null: not grouped yet. */
  terms: Generated<string | null>;
  /** Null: not grouped yet, or the message has no words to compare. */
  group_id: Generated<string | null>;
}

export const questionStates = ["open", "done", "ignored"] as const;
export type QuestionState = (typeof questionStates)[number];

/** Similar questions. A group holds no text: what a customer wrote is deleted with the conversation. */
export interface QuestionGroupsTable {
  id: string;
  workspace_id: string;
  /** The weak answer with whose terms new questions are compared. */
  leader_id: string;
  /** When the newest question was asked. */
  asked_at: number;
  state: QuestionState;
  /** The document that was written to answer it. */
  document_id: string | null;
  state_at: number;
  /** The agent who set the state; null: nobody. */
  state_by: string | null;
}

/** A satisfaction survey that was sent. A conversation gets one. */
export interface SurveysTable {
  conversation_id: string;
  message_id: string;
  /** The message's number in its conversation. */
  seq: number;
  /** The agent who resolved the conversation. */
  agent: string | null;
  sent_at: number;
}

/** A customer's rating of a conversation, 1 to 5. */
export interface RatingsTable {
  id: string;
  workspace_id: string;
  conversation_id: string;
  score: number;
  comment: string | null;
  channel: Channel;
  /** The agent who resolved the conversation; null: nobody did. */
  agent: string | null;
  created_at: number;
  updated_at: number;
}
