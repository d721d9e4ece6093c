import type { Accepted, InboundEvent } from "#channels/contract.ts";
import type { Channel } from "#domain/conversation/message.ts";
import { Problem } from "#domain/problem.ts";
import type { ConversationRow } from "#database/queries/conversations.ts";
import type { OutboxRow } from "#database/queries/outbox.ts";
import { prepareWork } from "#database/dialects/prepared.ts";
import type { InboundEventsTable } from "#database/schema/tables.ts";
import { groupKey } from "#conversations/attachments/attachments.ts";
import type { Tx } from "#database/contract.ts";
import type { QuestionOptions } from "#conversations/answering/question-options.ts";
import type { Workspace } from "#database/queries/workspaces.ts";

export interface AccountRef {
  readonly id: string;
  readonly channel: Channel;
}

export interface IncomingEvent {
  readonly account: AccountRef;
  readonly workspace: Workspace;
  readonly event: InboundEvent;
  /** This process answers at once, itself: the work is stored as taken. */
  readonly lease?: { readonly id: string; readonly until: number };
  /** How the question is to be answered, by whichever process does it in the end. */
  readonly options?: QuestionOptions;
  /** The conversation that it goes on with, and with no other that begins in its place. */
  readonly continues?: string;
}

export interface IngestResult extends Accepted {
  /** The work of answering, when it was taken at once. */
  readonly work: OutboxRow | null;
  /** Something newer was there already: nothing is done, and nothing of it is kept. */
  readonly isPassedOver?: true;
}

/** By which an event is known again. */
export const keyOf = ({ account, event }: IncomingEvent): string => `${account.id}\n${event.externalId}`;

/** The conversation as it was found; throws where it was deleted since its client named it. */
export function continued(
  { continues }: IncomingEvent,
  found: ConversationRow | undefined,
): ConversationRow | undefined {
  if (continues === undefined || found?.id === continues) return found;
  throw new Problem("conversation_not_found", "there is no conversation with this id");
}

/** What became of those that were accepted before. */
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

const storedEvents = prepareWork(
  (db, { accountId, externalIds }: { readonly accountId: string; readonly externalIds: readonly string[] }) =>
    db
      .selectFrom("inbound_events as event")
      .leftJoin("messages", "messages.id", "event.message_id")
      .select(["event.external_id", "event.conversation_id", "event.message_id", "messages.seq"])
      .where("event.account_id", "=", accountId)
      .where("event.external_id", "in", externalIds),
);

export function inboundRow(
  { account, event }: IncomingEvent,
  outcome: IngestResult,
  /** It is a part of a message that another event has begun. */
  joins: boolean,
  now: number,
): Omit<InboundEventsTable, "id"> {
  const isForNothing = outcome.isPassedOver === true || (outcome.messageId === null && isForKnownOnly(event));
  return {
    account_id: account.id,
    external_id: event.externalId,
    kind: event.kind,
    // What opens a file stands sealed beside it, and nowhere else. What nobody has said to the bot is not kept.
    payload: JSON.stringify(isForNothing ? onlyThat(event) : withoutRefs(event)),
    target_external_id: isForNothing ? storedAsideIdOf(event) : targetIdOf(event, joins),
    conversation_id: outcome.conversationId,
    message_id: outcome.messageId,
    received_at: now,
  };
}

const isForKnownOnly = (event: InboundEvent): boolean =>
  (event.kind === "edit" && event.knownOnly === true) || (event.kind === "message" && event.group?.joinsOnly === true);

/** By this a change of a part whose files were kept aside finds the message that has them by then. */
const storedAsideIdOf = (event: InboundEvent): string | null => (event.kind === "message" ? partIdOf(event) : null);

/** What is kept of an event that is for nothing. */
export interface StoredAside {
  /** {@link groupKey} of the group that it is a part of. */
  readonly asideOf?: string;
}

/** That it came, and whose it is: by that it is found when they are forgotten. */
function onlyThat(event: InboundEvent) {
  if (event.kind !== "message" && event.kind !== "edit") return withoutRefs(event);
  const {
    kind,
    externalId,
    thread,
    sender: { key },
    sentAt,
  } = event;
  const aside: StoredAside =
    event.kind === "message" && event.group !== undefined ? { asideOf: groupKey(thread, event.group.key) } : {};
  return { kind, externalId, thread, sender: { key }, sentAt, ...aside };
}

function targetIdOf(event: InboundEvent, joins: boolean): string | null {
  if (event.kind === "edit" || event.kind === "delete") return event.messageExternalId;
  return event.kind === "message" && joins ? partIdOf(event) : null;
}

/** What the platform calls the message itself. */
export const partIdOf = (event: Extract<InboundEvent, { kind: "message" }>): string =>
  event.messageExternalId ?? event.externalId;

function withoutRefs(event: InboundEvent): InboundEvent {
  if (event.kind !== "message" && event.kind !== "agent" && event.kind !== "edit") return event;
  if (event.files === undefined) return event;
  return { ...event, files: event.files.map((file) => ({ ...file, ref: "" })) };
}

export type TextChange = Extract<InboundEvent, { kind: "edit" | "delete" }>;
