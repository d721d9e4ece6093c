import type { ThreadMessage } from "#channels/contract.ts";

/** Tracks which delivered messages the customer has not seen yet. */
export interface ReadMarks {
  /** Starts over. Messages up to `seq` count as seen. */
  reset(seq: number): void;
  delivered(message: ThreadMessage): void;
  /** Returns the ids of the messages that `upTo` marks as read for the first time. `lastSent` bounds what can be seen. */
  seen(upTo: number, lastSent: number): readonly string[];
}

export function createReadMarks(): ReadMarks {
  let seenSeq = 0;
  let unseen: { readonly seq: number; readonly id: string }[] = [];
  return {
    reset(seq) {
      seenSeq = seq;
      unseen = [];
    },
    delivered({ role, seq, id }) {
      if (role !== "user" && seq > seenSeq) unseen.push({ seq, id });
    },
    seen(upTo, lastSent) {
      const read = unseen.filter(({ seq }) => seq <= upTo);
      unseen = unseen.filter(({ seq }) => seq > upTo);
      seenSeq = Math.max(seenSeq, Math.min(upTo, lastSent));
      return read.map(({ id }) => id);
    },
  };
}
