/** A conversation that is shown at the agents' desk: its thread there. */
export interface DeskThreadsTable {
  conversation_id: string;
  workspace_id: string;
  /** Null until the thread is begun. */
  account_id: string | null;
  /** Where it is, in the platform's own words. */
  channel: string | null;
  /** The platform's id of the thread. */
  external_id: string | null;
  /** `opening`: the call that begins it was made, and may have succeeded. */
  state: "new" | "opening" | "open";
  /** The newest message that is shown. */
  mirrored_seq: number;
  /** Of what the card shows. */
  card_hash: string | null;
  /** When the thread was wanted; names it in the platform's eyes until it has an id. */
  opened_at: number;
}

/** One message at the desk: posted by us (`out`), or written there by somebody (`in`). */
export interface DeskPostsTable {
  /** `out`: the key under which it is posted. */
  id: string;
  conversation_id: string;
  account_id: string;
  direction: "out" | "in";
  /**
   * What it shows, or what became of it: `draft` is a text that was kept back, as a note, until its writer says what to
   * do; `parked` an edit or a removal that has come before the text itself; `thread` one that was begun anew elsewhere.
   */
  kind: "message" | "transcript" | "note" | "event" | "file" | "draft" | "parked" | "refused" | "thread";
  /** Id of the message (of a file: that it came with), the note or the audit entry. */
  ref_id: string | null;
  part: number;
  /** `sending`: the call was made, and may have succeeded. */
  state: "sending" | "posted" | "failed";
  external_id: string | null;
  /**
   * JSON of the edit or removal that waits for its text; of what somebody wrote, which edit of it counts, with the text and
   * files of a note or a draft, and the change of a reply that its writer has not sent yet; of a transcript, the last message
   * in it.
   */
  parked: string | null;
  /** What is shown of a reply's fate. */
  mark: "arrived" | "failed" | null;
  created_at: number;
}
