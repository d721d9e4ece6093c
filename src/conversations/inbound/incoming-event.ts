import type { Accepted, InboundEvent } from "#channels/contract.ts";
import type { Channel } from "#domain/conversation/message.ts";
import { Problem } from "#domain/problem.ts";
import type { ConversationRow } from "#database/queries/conversations.ts";
import type { OutboxRow } from "#database/queries/outbox.ts";
import { prepareStatement } from "#database/dialects/prepared.ts";
import type { Tx } from "#database/contract.ts";
import type { QuestionOptions } from "#conversations/answering/question-options.ts";
import type { Workspace } from "#database/queries/workspaces.ts";

export interface AccountRef {
  readonly id: string;
  readonly channel: Channel;
}

export type EventKind = InboundEvent["kind"];
export type EventOf<K extends EventKind> = Extract<InboundEvent, { kind: K }>;
export type TextChange = EventOf<"edit" | "delete">;

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

export const noResult: IngestResult = {
  duplicate: false,
  conversationId: null,
  messageId: null,
  seq: null,
  work: null,
};

/** Key for the detection of duplicates. */
export const keyOf = ({ account, event }: IncomingEvent): string => `${account.id}\n${event.externalId}`;

/** Throws if the conversation that the client named was deleted since. */
export function requireContinued({ continues }: IncomingEvent, found: ConversationRow | undefined): void {
  if (continues === undefined || found?.id === continues) return;
  throw new Problem("conversation_not_found", "there is no conversation with this id");
}

/** Returns the results of events that were already stored. */
export async function knownEvents(tx: Tx, incoming: readonly IncomingEvent[]): Promise<Map<string, IngestResult>> {
  const known = new Map<string, IngestResult>();
  for (const [accountId, group] of Map.groupBy(incoming, ({ account }) => account.id)) {
    const { rows } = await storedEvents(tx, { accountId, externalIds: group.map(({ event }) => event.externalId) });
    for (const row of rows) {
      known.set(`${accountId}\n${row.external_id}`, {
        duplicate: true,
        conversationId: row.conversation_id,
        messageId: row.message_id,
        seq: row.seq,
        work: null,
      });
    }
  }
  return known;
}

const storedEvents = prepareStatement(
  (db, { accountId, externalIds }: { readonly accountId: string; readonly externalIds: readonly string[] }) =>
    db
      .selectFrom("inbound_events as event")
      .leftJoin("messages", "messages.id", "event.message_id")
      .select(["event.external_id", "event.conversation_id", "event.message_id", "messages.seq"])
      .where("event.account_id", "=", accountId)
      .where("event.external_id", "in", externalIds),
);

/** Returns the platform's id of the message, which can differ from the event's id. */
export const messageIdOf = (event: EventOf<"message">): string => event.messageExternalId ?? event.externalId;

export function metadataOf(
  { metadata, wantsPerson }: EventOf<"message">,
  guest: boolean,
  start: string | null,
): { readonly metadata?: string } {
  const own = {
    ...(start === null ? {} : { start }),
    ...(guest ? { guest: true } : {}),
    ...(wantsPerson === true ? { wants_person: true } : {}),
  };
  if (metadata === undefined && Object.keys(own).length === 0) return {};
  return { metadata: JSON.stringify({ ...metadata, ...own }) };
}
