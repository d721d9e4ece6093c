import type { InboundEvent } from "#channels/contract.ts";
import { botMayAnswer, statusOnCustomerMessage } from "#domain/conversation/status.ts";
import { isChat, systemActor } from "#domain/conversation/message.ts";
import type { ConversationRow } from "#database/queries/conversations.ts";
import { insertRows } from "#database/dialects/insert-rows.ts";
import type { InboundEventsTable, MessagesTable } from "#database/schema/tables.ts";
import type { IncomingEvent, IngestResult } from "./incoming-event.ts";
import { continued, inboundRow, keyOf, knownEvents, metadataOf, partIdOf } from "./incoming-event.ts";
import { createAlbums, newFiles, recordFiles, textOf, withAlbumText } from "./albums.ts";
import type { Grouped, MessageFiles } from "#conversations/attachments/attachments.ts";
import {
  filesOfEvent,
  groupKey,
  groupsOf,
  groupWaitMs,
  storeAside,
  storeWaitingFiles,
  namesGoneFile,
  noFiles,
  takeWaitingFiles,
  uploadsOf,
  withStoredAside,
} from "#conversations/attachments/attachments.ts";
import type { Draft } from "#conversations/transaction/draft.ts";
import type { Effects } from "#conversations/transaction/effects.ts";
import { createUnitOfWork } from "#conversations/transaction/unit-of-work.ts";
import { turnLane } from "#queue/lanes.ts";
import type { Contacts, KnownContact, ContactKey } from "#conversations/contacts/contacts.ts";
import { loadContacts, showContact, userIdsOf } from "#conversations/contacts/contacts.ts";
import { moveWork } from "#conversations/contacts/merge.ts";
import { noteProblem } from "#conversations/delivery/failures.ts";
import { applyDelivery, applyEdit, changeText, moveContext } from "./event-effects.ts";
import type { AppliedEdit } from "./pending-edits.ts";
import { isNewest, lastEdits, linkApplied, storePendingEdit, pendingEdits, targetOf } from "./pending-edits.ts";
import { newConversation } from "#conversations/transaction/new-conversation.ts";
import type { Clock } from "#runtime/clock.ts";
import type { ConversationSearch } from "#database/search/contract.ts";
import type { Files } from "#files/contract.ts";
import type { Tx } from "#database/contract.ts";
import { contextOf, lockIncoming } from "./locking.ts";
import { applyPlatformStatus, noteFromPlatform } from "#conversations/delivery/platform-sync.ts";
import { addAgentMessage, guestNote, isCustomer, linkMessageRefs } from "./email-threads.ts";

interface IngestBatchResult {
  readonly results: readonly IngestResult[];
  readonly effects: Effects;
}

const nothing: IngestResult = { duplicate: false, conversationId: null, messageId: null, seq: null, work: null };

/**
 * Stores events in the given order, with the work they cause. The number of statements does not grow with the number of
 * events. Fails as a whole; the caller must then retry each event alone.
 */
export async function ingest(
  tx: Tx,
  search: ConversationSearch,
  seal: Files["seal"],
  incoming: readonly IncomingEvent[],
  { now: time }: Pick<Clock, "now">,
): Promise<IngestBatchResult> {
  const known = await knownEvents(tx, incoming);
  const fresh = incoming.filter((arrival) => !known.has(keyOf(arrival)));
  const conversations = await lockIncoming(tx, fresh);
  // Read only now, because waiting for the locks can take long.
  const now = time();
  const changes = createUnitOfWork(now, search);
  const contacts = await loadContacts(
    tx,
    fresh.flatMap((arrival) =>
      arrival.event.kind === "message" || arrival.event.kind === "contact" ? [personOf(arrival, arrival.event)] : [],
    ),
    now,
  );
  const users = await userIdsOf(tx, chatContacts(conversations.values()));
  const pending = await pendingEdits(tx, fresh);
  const edits = await lastEdits(tx, fresh);
  const uploads = await uploadsOf(
    tx,
    fresh.flatMap(({ event }) =>
      event.kind === "message" || event.kind === "agent" ? (event.files ?? []).map(({ ref }) => ref) : [],
    ),
  );
  const groups = await groupsOf(
    tx,
    fresh.flatMap(({ account, event }) =>
      event.kind === "message" && event.group !== undefined
        ? [{ accountId: account.id, group: groupKey(event.thread, event.group.key) }]
        : [],
    ),
  );
  const albums = createAlbums(tx);
  const joining = new Set<InboundEvent>();
  const applied: AppliedEdit[] = [];
  // Messages of this batch, which are not inserted yet.
  const arrived = new Map<string, MessagesTable>();
  const inbound: Omit<InboundEventsTable, "id">[] = [];
  const results: IngestResult[] = [];
  const newConversations: Draft[] = [];

  for (const arrival of incoming) {
    const key = keyOf(arrival);
    const before = known.get(key);
    if (before !== undefined) {
      results.push({ ...before, duplicate: true });
      continue;
    }
    if (isOfAnother(arrival)) {
      results.push({ ...nothing, refused: true });
      continue;
    }
    if (namesGoneFile(arrival.event, arrival.account, uploads)) {
      results.push({ ...nothing, filesGone: true });
      continue;
    }
    const outcome = await ingestOne(arrival);
    known.set(key, outcome);
    results.push(outcome);
    inbound.push(inboundRow(arrival, outcome, joining.has(arrival.event), now));
  }

  await linkPreviousConversations(tx, newConversations, contacts);
  await contacts.flush(tx, changes.addWork);
  const effects = await changes.flush(tx);
  await linkMessageRefs(tx, incoming, results);
  await insertRows(tx, "inbound_events", inbound);
  await linkApplied(tx, applied);
  return { results: await withWork(tx, results, incoming), effects };

  /** After a sign-in the browser's session belongs to the user. Sockets opened before that are refused. */
  function isOfAnother(arrival: IncomingEvent): boolean {
    const { account, event } = arrival;
    if (!isChat(account.channel) || (event.kind !== "message" && event.kind !== "contact")) return false;
    const row = conversations.get(contextOf(account.id, event.thread));
    // Two processes may have created a contact at once: the session's contact can then differ from the thread's.
    const user = users.get(row?.contact_id ?? "");
    if (user !== undefined && user !== event.sender.verified?.userId) return true;
    return contacts.isOfAnother(personOf(arrival, event));
  }

  async function ingestOne(arrival: IncomingEvent): Promise<IngestResult> {
    const { account, workspace, event } = arrival;
    if (event.kind === "delivery") {
      await applyDelivery(tx, changes, account.id, event);
      return nothing;
    }
    const context = contextOf(account.id, event.thread);
    const row = continued(arrival, conversations.get(context));
    switch (event.kind) {
      case "message": {
        const together = groups.get(groupOf(account.id, event) ?? "");
        if (together !== undefined && row?.id === together.conversationId && !isLate(row, event, together)) {
          const draft = changes.track(row, workspace.settings, false);
          draft.joinMessage(together, await joinedText(arrival, event, together), filesOf(arrival, event));
          await joinPendingFiles(draft, arrival, event, together);
          return { ...nothing, conversationId: row.id, messageId: together.messageId, seq: together.seq };
        }
        if (event.group?.joinsOnly === true) {
          await storeAside(tx, filesOf(arrival, event));
          return nothing;
        }
        const contact = contacts.of(personOf(arrival, event));
        const draft =
          row === undefined ? begin(arrival, event.thread, contact) : changes.track(row, workspace.settings, false);
        conversations.set(context, draft.row);
        const accepted = await ingestMessage(draft, arrival, event, contact);
        for (const note of accepted.notes) await noteProblem(tx, draft, note, now);
        return accepted.arrived;
      }
      case "contact": {
        const contact = contacts.of(personOf(arrival, event));
        contacts.setClaimed(contact.contact, event.contact);
        if (row === undefined) return nothing;
        const draft = changes.track(row, workspace.settings, false);
        if (showCustomer(draft, contact)) draft.touch();
        return { ...nothing, conversationId: row.id };
      }
      case "agent": {
        if (row === undefined) return nothing;
        const draft = changes.track(row, workspace.settings, false);
        const message = addAgentMessage(draft, account.id, event, filesOf(arrival, event));
        return { ...nothing, conversationId: row.id, messageId: message.id, seq: message.seq };
      }
      case "notice": {
        if (row === undefined) return nothing;
        const draft = changes.track(row, workspace.settings, false);
        if (event.author === undefined) await noteProblem(tx, draft, event.text, now);
        else await noteFromPlatform(tx, draft, event.author, event.text, now);
        return { ...nothing, conversationId: row.id };
      }
      case "state": {
        if (row === undefined) return nothing;
        const draft = changes.track(row, workspace.settings, false);
        if (event.order <= (draft.row.platform_order ?? "")) return { ...nothing, conversationId: row.id };
        draft.row.platform_order = event.order;
        draft.touch();
        // Our own change is already stored. Its order number still makes older events obsolete.
        if (event.change.kind !== "ours") applyPlatformStatus(draft, event, account.channel, now);
        return { ...nothing, conversationId: row.id };
      }
      case "moved": {
        const there = contextOf(account.id, event.toThread);
        if (row === undefined || conversations.has(there)) return nothing;
        await moveContext(tx, row.id, event.toThread);
        row.context_key = event.toThread;
        conversations.delete(context);
        conversations.set(there, row);
        return { ...nothing, conversationId: row.id };
      }
      case "reach": {
        if (row === undefined) return nothing;
        const draft = changes.track(row, workspace.settings, false);
        const unreachable = event.reachable ? null : event.reason;
        // Platforms repeat this event, and every refused message reports the same state.
        if ((draft.row.unreachable === null) !== event.reachable) await noteProblem(tx, draft, event.reason, now);
        if (draft.row.unreachable !== unreachable) {
          draft.row.unreachable = unreachable;
          draft.touch();
        }
        return { ...nothing, conversationId: row.id };
      }
      case "edit":
      case "delete": {
        const target = targetOf(account.id, event.thread, event.messageExternalId);
        const album = row === undefined ? undefined : albums.loaded(row.id, event.messageExternalId);
        const together =
          arrived.get(target) ??
          [...arrived.values()].find(({ id }) => event.kind === "edit" && id === album?.messageId);
        if (!isNewest(edits, target, event)) {
          return { ...nothing, conversationId: row?.id ?? null, isPassedOver: true };
        }
        if (row !== undefined && together !== undefined) {
          changeText(together, withAlbumText(album, event), now);
          if (event.kind === "delete") changes.files.withdraw(together);
          const files =
            together.deleted_at === null && album !== undefined ? newFiles(album, event, together.files ?? 0) : [];
          if (files.length > 0) {
            const draft = changes.track(row, workspace.settings, false);
            draft.joinMessage(groupedOf(together), together.content, filesOf(arrival, { ...event, files }));
          }
          return { ...nothing, conversationId: row.id, messageId: together.id };
        }
        const messageId =
          row === undefined
            ? null
            : await applyEdit(tx, changes, changes.track(row, workspace.settings, false), albums, event, (files) =>
                filesOf(arrival, { ...event, files }),
              );
        if (messageId === null) {
          storePendingEdit(pending, target, event);
          if (event.kind === "edit" && event.knownOnly !== true)
            await storeWaitingFiles(tx, event, filesOf(arrival, event));
        }
        // Parts that join the message later in this transaction must not restore the old text.
        for (const grouped of groups.values()) {
          if (grouped.messageId === messageId && event.kind === "edit") {
            grouped.content = textOf(await albums.of(grouped.conversationId, messageId));
          }
        }
        return { ...nothing, conversationId: row?.id ?? null, messageId };
      }
    }
  }

  /** Returns the message's text including this part. */
  async function joinedText(
    { account }: IncomingEvent,
    event: Extract<InboundEvent, { kind: "message" }>,
    { conversationId, messageId }: Grouped,
  ): Promise<string> {
    joining.add(event);
    const externalId = partIdOf(event);
    const change = pending.get(targetOf(account.id, event.thread, externalId));
    if (change !== undefined) {
      applied.push({ accountId: account.id, externalId, message: { id: messageId, conversation_id: conversationId } });
    }
    const album = await albums.of(conversationId, messageId);
    album.texts.set(externalId, change === undefined ? event.text : change.kind === "edit" ? change.text : "");
    recordFiles(album, externalId, event.files ?? [], true);
    return textOf(album);
  }

  /** Attaches the files of an edit that arrived before its part. */
  async function joinPendingFiles(
    draft: Draft,
    { account }: IncomingEvent,
    event: Extract<InboundEvent, { kind: "message" }>,
    message: Grouped,
  ): Promise<void> {
    const change = pending.get(targetOf(account.id, event.thread, partIdOf(event)));
    if (change?.kind !== "edit" || change.files === undefined) return;
    const album = await albums.of(message.conversationId, message.messageId);
    const files = await takeWaitingFiles(tx, account.id, change, newFiles(album, change, message.files));
    if (files.fresh.length > 0) draft.joinMessage(message, message.content, files);
  }

  /** Moves the conversation to the contact if the thread's customer turns out to be another one. */
  function showCustomer(draft: Draft, customer: KnownContact): boolean {
    const { contact_id: before } = draft.row;
    const shown = showContact(draft.row, customer);
    if (before !== draft.row.contact_id) {
      for (const id of [before, draft.row.contact_id]) for (const work of moveWork(id, now)) changes.addWork(work);
    }
    return shown;
  }

  function begin(arrival: IncomingEvent, thread: string, { contact }: KnownContact): Draft {
    const { workspace } = arrival;
    const row = newConversation(arrival, thread, contact.id, now);
    const draft = changes.track(row, workspace.settings, true);
    const actor = { type: "customer", id: contact.id, name: contact.name } as const;
    draft.audit("status_changed", actor, { to: "open" });
    draft.emit("conversation.started", actor);
    newConversations.push(draft);
    return draft;
  }

  async function ingestMessage(
    draft: Draft,
    arrival: IncomingEvent,
    event: Extract<InboundEvent, { kind: "message" }>,
    customer: KnownContact,
  ): Promise<{ readonly arrived: IngestResult; readonly notes: readonly string[] }> {
    const { row } = draft;
    const { contact } = customer;
    if (event.sender.claimed !== undefined) contacts.setClaimed(contact, event.sender.claimed);
    const guest = event.checkSender === true && row.last_seq > 0 && !isCustomer(row, customer, event.sender);
    const notes = [
      ...(guest ? [guestNote(event.sender, contact)] : []),
      ...(event.peopleOnly === undefined ? [] : [event.peopleOnly]),
    ];
    // Messages through another account do not change the customer: an address alone is no proof of identity.
    if (!guest && row.account_id === arrival.account.id) showCustomer(draft, customer);
    if (!guest) row.via_account_id = row.account_id === arrival.account.id ? null : arrival.account.id;
    if (!guest && row.account_id === arrival.account.id) row.customer_wrote_at = now;
    const actor = { type: "customer", id: contact.id, name: contact.name } as const;
    // A customer who writes is reachable.
    row.unreachable = null;
    draft.setStatus(statusOnCustomerMessage(row.status, row.snoozed_from), actor);
    // Platforms reopen their own conversation on a customer's message.
    if (row.account_id === arrival.account.id) draft.setPlatformStatus({ kind: "open" });
    const externalId = partIdOf(event);
    const target = targetOf(arrival.account.id, event.thread, externalId);
    const change = pending.get(target);
    const message = draft.addMessage({
      role: "user",
      content: event.text,
      authorId: contact.id,
      authorName: contact.name ?? event.sender.name ?? null,
      externalId,
      ...metadataOf(event, guest),
      // Do not fetch files of a message that is already deleted.
      ...(change?.kind === "delete" ? {} : { files: await filesAtOnce(arrival, event) }),
    });
    if (change !== undefined) {
      changeText(message, change, now);
      applied.push({ accountId: arrival.account.id, externalId, message });
    }
    arrived.set(target, message);
    const group = groupOf(arrival.account.id, event);
    if (message.deleted_at === null) {
      const grouped = groupedOf(message);
      if (group !== undefined) groups.set(group, grouped);
      albums.begin(grouped, externalId, message.content, event.files ?? []);
      await joinPendingFiles(draft, arrival, event, grouped);
    }
    row.last_customer_seq = message.seq;
    if (notes.length > 0 && botMayAnswer(row.status)) {
      const system = systemActor("escalation");
      draft.setStatus("escalated", system, { reason: guest ? "somebody else has written" : "not for the bot" });
      draft.setTags(["escalated"], [], system);
      row.settled_seq = message.seq;
    }
    if (botMayAnswer(row.status)) {
      changes.addWork({
        lane: turnLane(row.id),
        kind: "think",
        payload: {
          conversationId: row.id,
          seq: message.seq,
          ...(arrival.options === undefined ? {} : { options: arrival.options }),
        },
        // Stored with the work, so that the wait for the rest of an album happens once, in whichever process runs it.
        dueAt: event.group === undefined ? now : now + groupWaitMs,
        ...(arrival.lease === undefined ? {} : { lease: arrival.lease }),
      });
    }
    return { arrived: { ...nothing, conversationId: row.id, messageId: message.id, seq: message.seq }, notes };
  }

  /** Includes files of the group that were stored aside before its first message. */
  async function filesAtOnce(
    arrival: IncomingEvent,
    event: Extract<InboundEvent, { kind: "message" }>,
  ): Promise<MessageFiles> {
    const files = filesOf(arrival, event);
    if (event.group === undefined) return files;
    return withStoredAside(tx, arrival.account.id, groupKey(event.thread, event.group.key), files);
  }

  /** Text that arrives after the bot began its answer becomes a message of its own, so that the bot answers it too. */
  function isLate(
    { status }: ConversationRow,
    { group, text }: Extract<InboundEvent, { kind: "message" }>,
    { createdAt }: Grouped,
  ): boolean {
    return group?.joinsOnly !== true && text.trim() !== "" && botMayAnswer(status) && now >= createdAt + groupWaitMs;
  }

  function filesOf(
    { account, workspace }: IncomingEvent,
    event: Pick<Extract<InboundEvent, { kind: "message" | "agent" }>, "thread" | "files"> & {
      readonly group?: { readonly key: string };
    },
  ): MessageFiles {
    if (event.files === undefined || event.files.length === 0) return noFiles;
    const group = event.group === undefined ? null : groupKey(event.thread, event.group.key);
    const of = { workspaceId: workspace.id, accountId: account.id, thread: event.thread, group };
    return filesOfEvent(event.files, of, uploads, seal, now);
  }
}

const chatContacts = (rows: Iterable<ConversationRow>): readonly string[] =>
  [...rows].flatMap((row) => (isChat(row.channel) && row.customer_verified === 1 ? [row.contact_id] : []));

function personOf(
  { workspace, account }: IncomingEvent,
  { sender }: { readonly sender: ContactKey["sender"] },
): ContactKey {
  return {
    workspaceId: workspace.id,
    channel: account.channel,
    sender,
  };
}

const groupedOf = ({ id, conversation_id, seq, content, files, created_at }: MessagesTable): Grouped => ({
  messageId: id,
  conversationId: conversation_id,
  seq,
  content,
  files: files ?? 0,
  createdAt: created_at,
});

function groupOf(accountId: string, event: Extract<InboundEvent, { kind: "message" }>): string | undefined {
  return event.group === undefined ? undefined : `${accountId}\n${groupKey(event.thread, event.group.key)}`;
}

/** Links each new conversation to the customer's previous one. */
async function linkPreviousConversations(tx: Tx, drafts: readonly Draft[], contacts: Contacts): Promise<void> {
  // Conversations of this batch are not inserted yet.
  const begun = new Map<string, string>();
  for (const { row } of drafts) {
    const before = begun.get(row.contact_id);
    begun.set(row.contact_id, row.id);
    if (before !== undefined) row.previous_conversation_id = before;
    if (before !== undefined || contacts.isNew(row.contact_id)) continue;
    const previous = await tx
      .selectFrom("conversations")
      .select("id")
      .where("contact_id", "=", row.contact_id)
      .orderBy("started_at", "desc")
      .orderBy("id", "desc")
      .limit(1)
      .executeTakeFirst();
    row.previous_conversation_id = previous?.id ?? null;
  }
}

/** Reads back the work rows that the caller runs itself. */
async function withWork(
  tx: Tx,
  results: readonly IngestResult[],
  incoming: readonly IncomingEvent[],
): Promise<readonly IngestResult[]> {
  const own = incoming.some(({ lease }) => lease !== undefined);
  if (!own) return results;
  return Promise.all(
    results.map(async (result, i) => {
      const lease = incoming[i]?.lease;
      if (lease === undefined || result.conversationId === null || result.duplicate) return result;
      const rows = await tx
        .selectFrom("outbox")
        .selectAll()
        .where("lane", "=", turnLane(result.conversationId))
        .where("lease_id", "=", lease.id)
        .orderBy("id", "desc")
        .execute();
      const work = rows.find((row) => (JSON.parse(row.payload) as { readonly seq?: number }).seq === result.seq);
      return { ...result, work: work ?? null };
    }),
  );
}
