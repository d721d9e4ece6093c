/** The last time that a rule fired on a conversation. */
export interface RuleFiringsTable {
  conversation_id: string;
  rule: string;
  /** The conversation's activity at that time. */
  activity: number;
  /** Days since 1970, UTC, and the number of firings on that day. */
  day: number;
  count: number;
}

/** The agent to whom a rule assigned last. */
export interface RuleTurnsTable {
  workspace_id: string;
  rule: string;
  email: string;
}

/** A call that must be made only once. Stored before it is made. */
export interface SkillCallsTable {
  /** Hash of the conversation, the question, the skill and its arguments. */
  id: string;
  conversation_id: string;
  skill: string;
  /** Encrypted JSON of the result; null: unknown, as after a crash. */
  result: string | null;
  created_at: number;
}
