export interface NewNote {
  readonly content: string;
  /** Null to use the actor's name. */
  readonly authorEmail: string | null;
  /** Idempotency key, made by `newId("req")`. A repeated id does not add a second note. */
  readonly clientId?: string;
  /** Do not push the note to the conversation's platform. */
  readonly hereOnly?: true;
}

export interface Note {
  readonly id: string;
  readonly conversationId: string;
  readonly content: string;
  readonly author: string;
  readonly createdAt: number;
}
