import type { Effects } from "#conversations/work/effects.ts";
import type { PlatformStatus } from "#channels/inbound-event.ts";
import type { ConversationEventType } from "#domain/event-types.ts";
import type { Status } from "#domain/conversation/status.ts";
import type { Actor, AuditAction } from "#domain/conversation/message.ts";
import type { WorkspaceSettings } from "#domain/workspace/settings.ts";
import type { ConversationRow } from "#database/queries/conversations.ts";
import type { NewWork } from "#database/queries/outbox.ts";
import type { ContactsTable, MessagesTable } from "#database/schema/tables.ts";
import type { SyncItem } from "#conversations/work/desk-sync-work.ts";
import type { Grouped, MessageFiles } from "#conversations/attachments/attachments.ts";
import type { WeakAnswerReason } from "./effects/weak-answers.ts";
import type { EventDetails } from "./effects/events.ts";
import type { FileEffects } from "./effects/file-effects.ts";
import type { NewMessage } from "./new-message.ts";
import type { Tx } from "#database/contract.ts";

/** Collects a transaction's changes of conversations in memory and writes them in a few statements at its end. */
export interface UnitOfWork {
  readonly now: number;
  /** Returns the conversation's draft with all changes so far. `isNew`: the row is not inserted yet. */
  track(row: ConversationRow, settings: WorkspaceSettings, isNew: boolean): Draft;
  addWork(work: NewWork): void;
  /** Queues the webhook event of a changed contact. */
  emitContact(contact: ContactsTable, actor: Actor): void;
  /** Files of new messages and of messages that other parts join. */
  readonly files: Pick<FileEffects, "rewrite" | "withdraw">;
  /** Writes all changes. The caller must publish the result after the commit. */
  flush(tx: Tx): Promise<Effects>;
}

export interface StatusDetails {
  readonly snoozedUntil?: number | null;
  readonly reason?: string;
  /**
   * The change undoes a resolve: the SLA clock continues, and webhooks, rules and the platform's agents are not
   * notified.
   */
  readonly undoes?: boolean;
}

export interface Draft {
  readonly row: ConversationRow;
  readonly now: number;
  /** Adds files to an earlier message, stored or of this transaction. `content` is the whole text after the join. */
  joinMessage(message: Grouped, content: string, files: MessageFiles): void;
  /** Publishes the edit or deletion of a stored message to the desk, the customer's thread and webhooks. */
  messageUpdated(messageId: string): void;
  /** Publishes new or removed reactions to a message, in the inbox, in the customer's thread and by webhooks. */
  messageReacted(messageId: string): void;
  /** Appends a message and queues its parts. */
  addMessage(message: NewMessage): MessagesTable;
  /**
   * Changes the status by the lifecycle table. The current status is accepted as no change. Throws
   * `invalid_transition` for a step that the table does not allow.
   */
  setStatus(to: Status, actor: Actor, details?: StatusDetails): void;
  /** Adds an audit log entry and returns its id. */
  audit(
    action: AuditAction,
    actor: Actor,
    change: { from?: string | null; to?: string | null; detail?: string | null },
  ): string;
  setTags(add: readonly string[], remove: readonly string[], actor: Actor): void;
  /** Queues a webhook event. {@link setStatus} and {@link addMessage} already emit theirs. */
  emit(type: ConversationEventType, actor: Actor, details?: EventDetails): void;
  /** Lists the customer's message with this number among the questions that need a better answer. */
  addWeakAnswer(seq: number, reason: WeakAnswerReason): void;
  /** Called when no customer dislikes the answer to this message any more. */
  removeDislike(seq: number): void;
  /** Queues an item for the agents' desk. {@link addMessage} and {@link setStatus} already queue theirs. */
  syncDesk(item: SyncItem): void;
  /** Gives the conversation a thread at the desk, regardless of the settings. */
  showAtDesk(): void;
  /** Records the status the platform already has, so that it is not pushed back to the platform. */
  setPlatformStatus(status: PlatformStatus): void;
  /** Queues the note for the platform's agents, if the platform has any. */
  pushNote(id: string): void;
  /** Names the author of a change of the customer's fields, which the caller makes. */
  customerChangedBy(actor: Actor): void;
  /** Marks the row as changed. Call it after a field was set directly. */
  touch(): void;
  /** Runs changes that a rule makes. They trigger no other rule. */
  asRule<T>(work: () => T): T;
}
