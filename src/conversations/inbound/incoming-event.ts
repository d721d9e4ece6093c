import { Problem } from "#domain/problem.ts";
import type { ConversationRow } from "#database/queries/conversations.ts";
import { prepareStatement } from "#database/dialects/prepared.ts";
import type { Tx } from "#database/contract.ts";
import type { IncomingEvent, IngestResult } from "#conversations/transaction/incoming-event.ts";
import type { EventOf } from "#channels/inbound-event.ts";

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
