import type { InboundEvent } from "#channels/contract.ts";
import { isChat } from "#channels/catalog.ts";
import type { Tx } from "#database/contract.ts";
import type { ConversationRow } from "#database/queries/conversations.ts";
import type { MessagesTable } from "#database/schema/tables.ts";
import type { ConversationSearch } from "#database/search/contract.ts";
import type { Files } from "#files/contract.ts";
import type { Clock } from "#runtime/clock.ts";
import type { AttachmentRow, Grouped, MessageFiles } from "#conversations/attachments/attachments.ts";
import { filesOfEvent, groupKey, groupsOf, noFiles, uploadsOf } from "#conversations/attachments/attachments.ts";
import type { Contacts } from "#conversations/contacts/contacts.ts";
import { loadContacts, userIdsOf } from "#conversations/contacts/contacts.ts";
import type { ChannelSender } from "#conversations/contacts/identities.ts";
import type { Draft, UnitOfWork } from "#conversations/transaction/draft.ts";
import { createUnitOfWork } from "#conversations/transaction/unit-of-work.ts";
import type { PauseAfter } from "#conversations/answering/turn.ts";
import type { Albums } from "./albums.ts";
import { createAlbums } from "./albums.ts";
import type { EventKind, EventOf } from "#channels/inbound-event.ts";
import type { IncomingEvent, IngestResult } from "#conversations/transaction/incoming-event.ts";
import { lockIncoming } from "./locking.ts";
import type { Edits } from "./pending-edits.ts";
import { loadEdits } from "./pending-edits.ts";

/** The inbound events of one transaction: what was loaded for all of them, and their changes so far. */
export interface IngestBatch {
  readonly tx: Tx;
  readonly now: number;
  readonly changes: UnitOfWork;
  readonly contacts: Contacts;
  /** User ids of the verified customers who own a chat, by contact. */
  readonly users: ReadonlyMap<string, string>;
  /** Locked conversations by {@link contextOf}, and those that this batch starts. */
  readonly conversations: Map<string, ConversationRow>;
  readonly started: Draft[];
  /** Messages that this batch has not inserted yet, by {@link targetOf}. */
  readonly newMessages: Map<string, MessagesTable>;
  readonly edits: Edits;
  /** Uploaded files that the events name, by id. A message takes its files out. */
  readonly uploads: Map<string, AttachmentRow>;
  /** Messages that further events of their group join, by {@link groupOf}. */
  readonly groups: Map<string, Grouped>;
  readonly albums: Albums;
  /** Events that joined a message of another event. */
  readonly joining: Set<InboundEvent>;
  readonly seal: Files["seal"];
  readonly pauseAfter: PauseAfter;
  /** New due times of conversations with earlier messages to answer, by lane. */
  readonly rescheduled: Map<string, number>;
}

export interface BatchDependencies {
  readonly search: ConversationSearch;
  readonly seal: Files["seal"];
  readonly pauseAfter: PauseAfter;
  readonly clock: Pick<Clock, "now">;
}

/** Handles one kind of event. `row`: the conversation of the event's thread. */
export type EventHandler<K extends EventKind> = (
  batch: IngestBatch,
  incoming: IncomingEvent<EventOf<K>>,
  row: ConversationRow | undefined,
) => IngestResult | Promise<IngestResult>;

/** Locks the events' conversations and loads what their handlers need. */
export async function loadBatch(
  tx: Tx,
  { search, seal, pauseAfter, clock }: BatchDependencies,
  incoming: readonly IncomingEvent[],
): Promise<IngestBatch> {
  const conversations = await lockIncoming(tx, incoming);
  // Read only now, because waiting for the locks can take long.
  const now = clock.now();
  const refs = incoming.flatMap(({ event }) =>
    event.kind === "message" || event.kind === "agent" ? (event.files ?? []).map(({ ref }) => ref) : [],
  );
  const groups = incoming.flatMap(({ account, event }) =>
    event.kind === "message" && event.group !== undefined
      ? [{ accountId: account.id, group: groupKey(event.thread, event.group.key) }]
      : [],
  );
  return {
    tx,
    now,
    changes: createUnitOfWork(now, search),
    contacts: await loadContacts(tx, incoming.filter(isFromCustomer).map(senderOf), now),
    users: await userIdsOf(tx, chatContacts(conversations.values())),
    conversations,
    started: [],
    newMessages: new Map(),
    edits: await loadEdits(tx, incoming),
    uploads: await uploadsOf(tx, refs),
    groups: await groupsOf(tx, groups),
    albums: createAlbums(tx),
    joining: new Set(),
    seal,
    pauseAfter,
    rescheduled: new Map(),
  };
}

const chatContacts = (rows: Iterable<ConversationRow>): readonly string[] =>
  [...rows].flatMap((row) => (isChat(row.channel) && row.customer_verified === 1 ? [row.contact_id] : []));

/** Whether the event can name a customer who is not known yet. */
export const isFromCustomer = (incoming: IncomingEvent): incoming is IncomingEvent<EventOf<"message" | "contact">> =>
  incoming.event.kind === "message" || incoming.event.kind === "contact";

export const senderOf = ({
  workspace,
  account,
  event,
}: IncomingEvent<EventOf<"message" | "contact">>): ChannelSender => ({
  workspaceId: workspace.id,
  channel: account.channel,
  sender: event.sender,
});

/** Returns rows for `files`, which the event brings. */
export function filesOf(
  { uploads, seal, now }: IngestBatch,
  { account, workspace, event }: IncomingEvent<EventOf<"message" | "agent" | "edit">>,
  files = event.files ?? [],
): MessageFiles {
  if (files.length === 0) return noFiles;
  const group = event.kind !== "message" || event.group === undefined ? null : groupKey(event.thread, event.group.key);
  const of = { workspaceId: workspace.id, accountId: account.id, thread: event.thread, group };
  return filesOfEvent(files, of, uploads, seal, now);
}
