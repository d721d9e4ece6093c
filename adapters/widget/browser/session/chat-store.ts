import type { ChatStorage } from "../storage/chat-storage.ts";
import type { ChatState } from "./chat-state.ts";
import { initialState, nextLead } from "./chat-state.ts";
import type { History } from "./history.ts";
import { createHistory } from "./history.ts";
import type { Outbox } from "./outbox.ts";
import { createOutbox } from "./outbox.ts";
import type { ReadMark } from "./read-mark.ts";
import { createReadMark } from "./read-mark.ts";

/** All that this tab knows of the conversation, and the state that is shown of it. */
export interface ChatStore {
  readonly history: History;
  readonly outbox: Outbox;
  readonly readMark: ReadMark;
  state(): ChatState;
  /** Called after each change of the history, the outbox or the read mark, to derive the state from them. */
  update(change?: Partial<ChatState>): void;
}

/** `base`: where the script was loaded from. `changed` is called after every update. */
export function createChatStore(storage: ChatStorage, base: URL, changed: () => void): ChatStore {
  const history = createHistory(base);
  const outbox = createOutbox(storage);
  const readMark = createReadMark(storage);
  let state = initialState(storage.branding.read());

  const update = (change: Partial<ChatState> = {}): void => {
    const stored = history.messages();
    const shown = stored.filter(({ deleted }) => !deleted);
    const { seq: readSeq } = readMark.position();
    const next = { ...state, ...change };
    state = {
      ...next,
      lead: change.status === undefined ? next.lead : nextLead(next, storage.lead.read() === "dismissed"),
      messages: [...shown, ...outbox.messages(new Set(stored.map(({ key }) => key)))],
      replaying: history.replaying(),
      unread: shown.filter(({ role, seq }) => role !== "user" && (seq ?? 0) > readSeq).length,
    };
    changed();
  };

  return { history, outbox, readMark, state: () => state, update };
}
