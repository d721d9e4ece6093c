import type { OutboxRow } from "#database/queries/outbox.ts";
import type { ConversationSignal } from "./inbox-signal.ts";

/** Signals to publish after the commit. */
export interface Effects {
  /** Work that this process has already leased. */
  readonly taken?: readonly OutboxRow[];
  readonly wake: readonly { readonly lane: string; readonly dueAt: number }[];
  /** `amended`: a message that was already shown has changed, or its reactions. */
  readonly threads: readonly { readonly accountId: string; readonly contextKey: string; readonly amended?: boolean }[];
  readonly workspaces: readonly ConversationSignal[];
}

/** Must not be called before the commit. Null: nothing to publish. */
export type PublishEffects = (effects: Effects | null) => void;
