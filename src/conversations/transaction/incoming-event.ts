import type { InboundEvent } from "#channels/inbound-event.ts";
import type { Accepted } from "#channels/contract.ts";
import type { OutboxRow } from "#database/queries/outbox.ts";
import type { Workspace } from "#database/queries/workspaces.ts";
import type { Channel } from "#domain/conversation/message.ts";
import type { QuestionOptions } from "#conversations/work/question-options.ts";

export interface AccountRef {
  readonly id: string;
  readonly channel: Channel;
}

export interface IncomingEvent<E extends InboundEvent = InboundEvent> {
  readonly account: AccountRef;
  readonly workspace: Workspace;
  readonly event: E;
  /** This process runs the answer itself: the work is stored with its lease. */
  readonly lease?: { readonly id: string; readonly until: number };
  /** Options of the API query, stored for whichever process runs the answer. */
  readonly options?: QuestionOptions;
  /** The only conversation that the event may continue. */
  readonly continues?: string;
}

export interface IngestResult extends Accepted {
  /** The answer's work row, if this process leased it on insert. */
  readonly work: OutboxRow | null;
  /** A newer edit was already stored: the event is skipped and its content is not kept. */
  readonly isObsolete?: true;
}
