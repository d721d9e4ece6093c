import type {
  Colleague,
  ConversationView,
  Counts,
  ListItem,
  Me,
  MessageView,
  SavedReply,
  View,
  WaitingOrder,
} from "#http/inbox/wire.ts";
import type { Action } from "./api.ts";
import type { Reading } from "./reading.ts";

/** What the inbox shows. Panes draw it; only {@link InboxStore} changes it. */
export interface InboxState {
  readonly me: Me;
  readonly savedReplies: readonly SavedReply[];
  /** All agents of the workspace; empty until they are known. */
  readonly agents: readonly Colleague[];
  readonly view: View;
  readonly query: string;
  /** How the views of those that wait are sorted. */
  readonly order: WaitingOrder;
  readonly items: readonly ListItem[];
  readonly nextCursor: string | null;
  readonly list: "loading" | "ready" | "failed";
  readonly counts: Counts | undefined;
  readonly selected: string | undefined;
  readonly conversation: ConversationView | undefined;
  /** The part of its messages that is shown. */
  readonly reading: Reading;
  readonly failure: string | undefined;
  readonly customerTyping: boolean;
  readonly connected: boolean;
  /** What a reply was held back for. */
  readonly newer: readonly MessageView[] | undefined;
  readonly busy: boolean;
}

export interface InboxStore {
  state(): InboxState;
  /** Shows what the address names: `#/<view>/<conversation>`. */
  follow(hash: string): void;
  search(query: string): void;
  /** Sorts the views of those that wait, here and wherever this agent signs in. */
  orderBy(order: WaitingOrder): void;
  more(): Promise<void>;
  /** Reloads the list and the open conversation. */
  refresh(): void;
  /** Adds the page before, or after, the messages that are shown. */
  extend(to: "earlier" | "later"): Promise<void>;
  /** Shows another part of the conversation; false when it could not be fetched. `at`: a time. */
  jump(to: "first" | "end" | { readonly at: number }): Promise<boolean>;
  act(action: Action, body?: object): Promise<boolean>;
  /** Takes back the last resolve of this page, and opens that conversation. */
  undo(): Promise<void>;
  /** Several were resolved at once: the one before is not the last any more. */
  forgetResolve(): void;
  change(body: object): Promise<boolean>;
  /** Gives a conversation to an agent, or (null) to nobody, if it still stands as it did when that was offered. */
  assign(to: string | null, offered: ConversationView): Promise<boolean>;
  /** Asks again who works here. */
  loadAgents(): Promise<void>;
  /** Sends what is in the composer; false when it did not go, and stays there. */
  send(how?: { readonly force?: boolean; readonly anyway?: boolean }): Promise<boolean>;
  /** Changes a reply, or (null) takes it back. `was`: the text that was to be changed. */
  amend(messageId: string, content: string | null, was?: string): Promise<boolean>;
  dismissNewer(): void;
  typing(): void;
  /** Begins with what the address names. */
  start(hash: string): void;
}

export interface InboxListener {
  changed(): void;
  /** Something to tell in passing. */
  notice(text: string, kind: "done" | "problem"): void;
  /** `next`: the conversation that follows in the list. */
  resolved(next: string | undefined): void;
  /** Something was done: what went wrong before is over. */
  settled(): void;
  /** Messages that came in while the conversation was open. */
  arrived(messages: readonly MessageView[], conversation: ConversationView): void;
  /** Something may have changed anywhere. */
  onActivity(): void;
  /** The agent looks at the newest message. */
  atEnd(): boolean;
  claimedByOther(name: string): void;
  /** Somebody gave a conversation to the agent who sits here. */
  assigned(text: string, conversationId: string): void;
  /** A reply was held back because a colleague has the conversation. */
  heldByOther(name: string): void;
}

/** In a large team something changes all the time. */
export const listEveryMs = (): number => (document.visibilityState === "visible" ? 1_000 : 10_000);

export const hashOf = (view: View, id?: string): string => (id === undefined ? `#/${view}` : `#/${view}/${id}`);
