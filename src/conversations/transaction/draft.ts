import type { Effects } from "./effects.ts";
import type { PlatformStatus } from "#channels/inbound-event.ts";
import type { ConversationEventType } from "#domain/event-types.ts";
import type { Status } from "#domain/conversation/status.ts";
import type { Actor, AuditAction } from "#domain/conversation/message.ts";
import type { WorkspaceSettings } from "#domain/workspace/settings.ts";
import type { ConversationRow } from "#database/queries/conversations.ts";
import type { NewWork } from "#database/queries/outbox.ts";
import type { MessagesTable } from "#database/schema/tables.ts";
import type { SyncItem } from "./desk-sync-work.ts";
import type { Grouped, MessageFiles } from "#conversations/attachments/attachments.ts";
import type { EventDetails } from "./events.ts";
import type { FileEffects } from "./file-effects.ts";
import type { NewMessage } from "./new-message.ts";
import type { Tx } from "#database/contract.ts";

/** What a transaction does to conversations, gathered in memory and written in a few statements at its end. */
export interface UnitOfWork {
  readonly now: number;
  /** A conversation as it is after all changes so far. `isNew`: not stored yet. */
  track(row: ConversationRow, settings: WorkspaceSettings, isNew: boolean): Draft;
  addWork(work: NewWork): void;
  /** What is brought by messages, new ones and those that others join. */
  readonly files: Pick<FileEffects, "rewrite" | "withdraw">;
  /** Writes everything. What must happen after the commit is in the result. */
  flush(tx: Tx): Promise<Effects>;
}

export interface StatusDetails {
  readonly snoozedUntil?: number | null;
  readonly reason?: string;
  /**
   * A step by which a resolve is taken back: the SLA clock continues, and neither endpoints, rules nor the platform's people
   * are told of it.
   */
  readonly undoes?: boolean;
}

export interface Draft {
  readonly row: ConversationRow;
  readonly now: number;
  /** Adds files to a message that was stored, or added here, before, and says what its words are with those of them. */
  joinMessage(message: Grouped, content: string, files: MessageFiles): void;
  /** A message that is stored was changed or taken back: everybody who shows it or is told of it hears of it. */
  messageUpdated(messageId: string): void;
  /** Appends a message and queues its parts. */
  addMessage(message: NewMessage): MessagesTable;
  /**
   * Moves through the lifecycle table; the same status is no change. Throws `invalid_transition` for what the table does
   * not have.
   */
  setStatus(to: Status, actor: Actor, how?: StatusDetails): void;
  /** Writes an entry of the audit log; its id. */
  audit(
    action: AuditAction,
    actor: Actor,
    change: { from?: string | null; to?: string | null; detail?: string | null },
  ): string;
  setTags(add: readonly string[], remove: readonly string[], actor: Actor): void;
  /** Tells the endpoints that want it. What {@link setStatus} and {@link addMessage} do is told by themselves. */
  emit(type: ConversationEventType, actor: Actor, details?: EventDetails): void;
  /** Shows it at the agents' desk. What {@link addMessage} and {@link setStatus} do is shown by itself. */
  syncDesk(item: SyncItem): void;
  /** The conversation gets a thread at the desk, whatever the settings say. */
  bringToDesk(): void;
  /** How the conversation stands on its platform by now: what came from there is not sent back. */
  setPlatformStatus(standing: PlatformStatus): void;
  /** Shows the note to the platform's people, where it has some. */
  pushNote(id: string): void;
  /** Marks the row as changed where a field was set directly. */
  touch(): void;
  /** What is done here is a rule's doing, and triggers no rule. */
  asRule<T>(work: () => T): T;
}
