/** That a rule has fired on a conversation. */
export interface RuleFiringsTable {
  conversation_id: string;
  rule: string;
  /** The conversation's activity then. */
  activity: number;
  /** Days since 1970, UTC, and how often on that day. */
  day: number;
  count: number;
}

/** Whom a rule has assigned to last. */
export interface RuleTurnsTable {
  workspace_id: string;
  rule: string;
  email: string;
}

/** A call that may be made once only: stored before it is made. */
export interface SkillCallsTable {
  /** What the call is known by, a hash: the conversation, the question, the skill and its arguments. */
  id: string;
  conversation_id: string;
  skill: string;
  /** Sealed JSON of what came of it; null: not known, as after a crash. */
  result: string | null;
  created_at: number;
}
