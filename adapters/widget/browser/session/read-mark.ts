import type { ChatStorage } from "../storage/chat-storage.ts";
import type { ReadPosition } from "../storage/stored-values.ts";

/** How far the customer has read, in any tab. */
export interface ReadMark {
  position(): ReadPosition;
  /** Resets the mark unless it is of this conversation. */
  start(conversation: string | null): void;
  /** False: it was read already. */
  advance(seq: number): boolean;
  /** Takes over what another tab has stored. False: nothing newer. */
  reload(): boolean;
}

export function createReadMark(storage: ChatStorage): ReadMark {
  let position = storage.seen.read();
  return {
    position: () => position,
    start(conversation) {
      if (position.conversation !== conversation) position = { conversation, seq: 0 };
    },
    advance(seq) {
      if (seq <= position.seq) return false;
      position = { ...position, seq };
      storage.seen.write(position);
      return true;
    },
    reload() {
      const stored = storage.seen.read();
      if (stored.conversation !== position.conversation || stored.seq <= position.seq) return false;
      position = stored;
      return true;
    },
  };
}
