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
  readonly isPassedOver?: true;
}

/** Key for the detection of duplicates. */
export const keyOf = ({ account, event }: IncomingEvent): string => `${account.id}\n${event.externalId}`;

/** Returns the conversation as given. Throws if it was deleted after the client named it. */
export function continued(
  { continues }: IncomingEvent,
  found: ConversationRow | undefined,
): ConversationRow | undefined {
  if (continues === undefined || found?.id === continues) return found;
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
  /** The event joins a message that another event began. */
  joins: boolean,
  now: number,
): Omit<InboundEventsTable, "id"> {
  const isForNothing = outcome.isPassedOver === true || (outcome.messageId === null && isForKnownOnly(event));
  return {
    account_id: account.id,
    external_id: event.externalId,
    kind: event.kind,
    // A file's reference is a secret, kept encrypted with the attachment only. An event that belongs to no message keeps
    // no content.
    payload: JSON.stringify(isForNothing ? onlyThat(event) : withoutRefs(event)),
    target_external_id: isForNothing ? storedAsideIdOf(event) : targetIdOf(event, joins),
    conversation_id: outcome.conversationId,
    message_id: outcome.messageId,
    received_at: now,
  };
}

const isForKnownOnly = (event: InboundEvent): boolean =>
  (event.kind === "edit" && event.knownOnly === true) || (event.kind === "message" && event.group?.joinsOnly === true);

/** Lets an edit of a part whose files were stored aside find the message that later claimed them. */
const storedAsideIdOf = (event: InboundEvent): string | null => (event.kind === "message" ? partIdOf(event) : null);

/** The stored payload of an event that belongs to no message. */
export interface StoredAside {
  /** {@link groupKey} of the part's group. */
  readonly asideOf?: string;
}

/** Keeps only the event's identity and sender, so that an erasure of the customer finds the row. */
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

/** Returns the platform's id of the message, which can differ from the event's id. */
export const partIdOf = (event: Extract<InboundEvent, { kind: "message" }>): string =>
  event.messageExternalId ?? event.externalId;

function withoutRefs(event: InboundEvent): InboundEvent {
  if (event.kind !== "message" && event.kind !== "agent" && event.kind !== "edit") return event;
  if (event.files === undefined) return event;
  return { ...event, files: event.files.map((file) => ({ ...file, ref: "" })) };
}

export type TextChange = Extract<InboundEvent, { kind: "edit" | "delete" }>;

export function metadataOf(
  { metadata, wantsPerson }: Extract<InboundEvent, { kind: "message" }>,
  guest: boolean,
): { readonly metadata?: string } {
  const own = { ...(guest ? { guest: true } : {}), ...(wantsPerson === true ? { wants_person: true } : {}) };
  if (metadata === undefined && Object.keys(own).length === 0) return {};
  return { metadata: JSON.stringify({ ...metadata, ...own }) };
}
