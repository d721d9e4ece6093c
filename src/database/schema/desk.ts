/** The thread of a conversation at the agents' desk. */
export interface DeskThreadsTable {
  conversation_id: string;
  workspace_id: string;
  /** Null until the thread has been opened. */
  account_id: string | null;
  /** The platform's name of the channel that holds the thread. */
  channel: string | null;
  /** The platform's id of the thread. */
  external_id: string | null;
  /** `opening`: the call that opens the thread was made, and may have succeeded. */
  state: "new" | "opening" | "open";
  /** The newest message that is shown. */
  mirrored_seq: number;
  /** Hash of the card's content. */
  card_hash: string | null;
  /** When the thread was requested. Identifies the thread on the platform until it has an id. */
  opened_at: number;
}

/** One message at the desk: posted by Parley (`out`), or written by an agent (`in`). */
export interface DeskPostsTable {
  /** `out`: the key under which it is posted. */
  id: string;
  conversation_id: string;
  account_id: string;
  direction: "out" | "in";
  /**
   * The subject or the outcome. `draft`: a text that was stored as a note until its writer decides. `parked`: an edit
   * or a removal that arrived before its text. `thread`: a thread that was replaced by a new one.
   */
  kind: "message" | "transcript" | "note" | "event" | "file" | "draft" | "parked" | "refused" | "thread";
  /** Id of the message, the note or the audit entry; for a file, of its message. */
  ref_id: string | null;
  part: number;
  /** `sending`: the call was made, and may have succeeded. */
  state: "sending" | "posted" | "failed";
  external_id: string | null;
  /**
   * JSON. For an edit or removal: the pending change. For an agent's message: the order of its last edit, the text and
   * files of a note or draft, and a change of a reply that its writer has not sent yet. For a transcript: its last
   * message.
   */
  parked: string | null;
  /** The delivery status shown for a reply. */
  mark: "arrived" | "failed" | null;
  created_at: number;
}
