import type { OutboxRow } from "#database/queries/outbox.ts";
import type { ConversationSignal } from "./inbox-signal.ts";

/** Signals to give once the transaction is durable. */
export interface Effects {
  /** Work that was taken for this process itself. */
  readonly taken?: readonly OutboxRow[];
  readonly wake: readonly { readonly lane: string; readonly dueAt: number }[];
  /** `amended`: something that was shown before has changed. */
  readonly threads: readonly { readonly accountId: string; readonly contextKey: string; readonly amended?: boolean }[];
  readonly workspaces: readonly ConversationSignal[];
}
