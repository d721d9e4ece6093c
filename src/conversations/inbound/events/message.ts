import { systemActor } from "#domain/conversation/message.ts";
import { turnKind } from "#conversations/answering/turn-kind.ts";
import { botMayAnswer, statusOnCustomerMessage } from "#domain/conversation/status.ts";
import { hasTrait } from "#channels/catalog.ts";
import type { ConversationRow } from "#database/queries/conversations.ts";
import type { SurveysTable } from "#database/schema/feedback.ts";
import type { MessagesTable } from "#database/schema/tables.ts";
import { turnLane } from "#queue/lanes.ts";
import type { MessageFiles } from "#conversations/attachments/attachments.ts";
import { groupKey, groupWaitMs, storeAside, withStoredAside } from "#conversations/attachments/attachments.ts";
import type { NewRating } from "#conversations/feedback/ratings.ts";
import { addRating, surveyOf } from "#conversations/feedback/ratings.ts";
import { thanksWork } from "#conversations/work/survey-work.ts";
import { typedRating } from "#conversations/feedback/typed-rating.ts";
import type { KnownContact } from "#conversations/contacts/contacts.ts";
import { customerActor } from "#conversations/contacts/contacts.ts";
import { noteProblem } from "#conversations/delivery/failures.ts";
import type { Draft } from "#conversations/transaction/draft.ts";
import { newConversation } from "#conversations/transaction/new-conversation.ts";
import { escalate } from "#conversations/transaction/owner.ts";
import type { EventHandler, IngestBatch } from "../batch.ts";
import { senderOf, filesOf } from "../batch.ts";
import { guestNote, isCustomer } from "../email-threads.ts";
import type { EventOf } from "#channels/inbound-event.ts";
import type { IncomingEvent } from "#conversations/transaction/incoming-event.ts";
import { metadataOf, noResult, messageIdOf } from "../incoming-event.ts";
import { contextOf } from "../locking.ts";
import { attachPendingFiles, groupedOf, groupOf, groupToJoin, joinGroup } from "../message-group.ts";
import { changeText, targetOf } from "../pending-edits.ts";
import { storedForward } from "#conversations/references/forwarded.ts";
import { storedReference } from "#conversations/references/stored-reference.ts";
import { overBotLimit } from "./bot-limit.ts";
import { showCustomer } from "./contact.ts";

type IncomingMessage = IncomingEvent<EventOf<"message">>;
type Contact = KnownContact["contact"];

/** Stores a customer's message, and the work that answers it. Starts the conversation if the thread has none. */
export const ingestMessage: EventHandler<"message"> = async (batch, incoming, found) => {
  const { account, workspace, event } = incoming;
  const group = groupToJoin(batch, incoming, found);
  if (group !== undefined && found !== undefined) {
    return joinGroup(batch, incoming, batch.changes.track(found, workspace.settings, false), group);
  }
  if (event.group?.joinsOnly === true) {
    await storeAside(batch.tx, filesOf(batch, incoming));
    return noResult;
  }
  const customer = batch.contacts.of(senderOf(incoming));
  const { contact } = customer;
  const draft =
    found === undefined ? start(batch, incoming, contact) : batch.changes.track(found, workspace.settings, false);
  const { row } = draft;
  const hasUnanswered = row.last_customer_seq > row.settled_seq;
  batch.conversations.set(contextOf(account.id, event.thread), row);
  if (event.sender.claimed !== undefined) batch.contacts.setClaimed(contact, event.sender.claimed);
  const isGuest = event.checkSender === true && row.last_seq > 0 && !isCustomer(row, customer, event.sender);
  const rating = isGuest ? undefined : await ratingIn(batch, row, event);
  updateConversation(batch, draft, incoming, customer, isGuest, rating !== undefined);
  const message = await addMessage(batch, draft, incoming, contact, isGuest, rating !== undefined);
  if (rating !== undefined) {
    await addRating(batch.tx, draft, rating.survey, rating.given, customerActor(contact));
    batch.changes.addWork(thanksWork(row.id, batch.now));
    return { ...noResult, conversationId: row.id, messageId: message.id, seq: message.seq };
  }
  const limited = botMayAnswer(row.status)
    ? await overBotLimit(batch.tx, row, contact.id, batch.now, event.botLimit)
    : undefined;
  const notes = [
    ...(isGuest ? [guestNote(event.sender, contact)] : []),
    ...[event.peopleOnly, limited].filter((note) => note !== undefined),
  ];
  if (notes.length > 0 && botMayAnswer(row.status)) {
    escalate(draft, systemActor("escalation"), isGuest ? "somebody else has written" : "not for the bot");
  }
  if (botMayAnswer(row.status)) queueTurn(batch, incoming, message, hasUnanswered);
  for (const note of notes) await noteProblem(batch.tx, draft, note, batch.now);
  return { ...noResult, conversationId: row.id, messageId: message.id, seq: message.seq };
};

/** The rating in a reply to the survey. Anything else that the customer writes is a message, and opens the conversation. */
async function ratingIn(
  { tx }: IngestBatch,
  row: ConversationRow,
  { text, files = [], wantsPerson, peopleOnly, forwarded }: EventOf<"message">,
): Promise<{ readonly survey: SurveysTable; readonly given: NewRating } | undefined> {
  const isPlain = files.length === 0 && [wantsPerson, peopleOnly, forwarded].every((each) => each === undefined);
  if (!isPlain || row.status !== "resolved") return undefined;
  const given = typedRating(text);
  const survey = given === undefined ? undefined : await surveyOf(tx, row);
  // After another message of the customer, a number is no reply to the survey.
  if (given === undefined || survey === undefined || row.last_customer_seq > survey.seq) return undefined;
  return { survey, given };
}

function start({ changes, started, now }: IngestBatch, incoming: IncomingMessage, contact: Contact): Draft {
  const row = newConversation(incoming, incoming.event.thread, contact.id, now);
  const draft = changes.track(row, incoming.workspace.settings, true);
  draft.audit("status_changed", customerActor(contact), { to: "open" });
  draft.emit("conversation.started", customerActor(contact));
  started.push(draft);
  return draft;
}

/** Updates the conversation's customer, account and status. */
function updateConversation(
  batch: IngestBatch,
  draft: Draft,
  { account }: IncomingMessage,
  customer: KnownContact,
  isGuest: boolean,
  isRating: boolean,
): void {
  const { row } = draft;
  const isOwnAccount = row.account_id === account.id;
  if (!isGuest) {
    // Messages through another account do not change the customer: an address alone is no proof of identity.
    if (isOwnAccount) showCustomer(batch, draft, customer);
    row.via_account_id = isOwnAccount ? null : account.id;
    if (isOwnAccount) row.customer_wrote_at = batch.now;
  }
  // A customer who writes is reachable.
  row.unreachable = null;
  if (isRating) return;
  draft.setStatus(statusOnCustomerMessage(row.status, row.snoozed_from), customerActor(customer.contact));
  // Platforms reopen their own conversation on a customer's message.
  if (isOwnAccount) draft.setPlatformStatus({ kind: "open" });
}

/** Adds the message with the edit that arrived before it, and lets later parts of its group join it. */
async function addMessage(
  batch: IngestBatch,
  draft: Draft,
  incoming: IncomingMessage,
  contact: Contact,
  isGuest: boolean,
  isRating: boolean,
): Promise<MessagesTable> {
  const { account, event } = incoming;
  const externalId = messageIdOf(event);
  const target = targetOf(account.id, event.thread, externalId);
  const change = batch.edits.pending(target);
  const pendingStart = isGuest || isRating ? null : batch.contacts.takePendingStart(contact);
  const message = draft.addMessage({
    role: "user",
    content: event.text,
    authorId: contact.id,
    authorName: contact.name ?? event.sender.name ?? null,
    externalId,
    ...metadataOf(event, isGuest, pendingStart),
    refersTo: await storedReference(
      batch.tx,
      account.id,
      draft.row,
      event.refersTo,
      (id) => batch.newMessages.get(targetOf(account.id, event.thread, id))?.id,
    ),
    forwarded: storedForward(event.forwarded),
    ...(isRating ? { kind: "rating" } : {}),
    // Do not fetch files of a message that is already deleted.
    ...(change?.kind === "delete" ? {} : { files: await filesWithGroup(batch, incoming) }),
  });
  if (change !== undefined) {
    changeText(message, change, batch.now);
    batch.edits.applied(account.id, externalId, message);
  }
  batch.newMessages.set(target, message);
  if (message.deleted_at === null) {
    const grouped = groupedOf(message);
    const group = groupOf(incoming);
    if (group !== undefined) batch.groups.set(group, grouped);
    batch.albums.begin(grouped, externalId, message.content, event.files ?? []);
    await attachPendingFiles(batch, draft, incoming, grouped);
  }
  draft.row.last_customer_seq = message.seq;
  return message;
}

/** Includes files of the group that were stored aside before its first message. */
async function filesWithGroup(batch: IngestBatch, incoming: IncomingMessage): Promise<MessageFiles> {
  const { account, event } = incoming;
  const files = filesOf(batch, incoming);
  if (event.group === undefined) return files;
  return withStoredAside(batch.tx, account.id, groupKey(event.thread, event.group.key), files);
}

/** Queues the answer, together with the answers to unfinished messages before this one. */
function queueTurn(
  batch: IngestBatch,
  { account, event, options, lease }: IncomingMessage,
  { conversation_id: conversationId, seq, content }: MessagesTable,
  hasUnanswered: boolean,
): void {
  const { now, changes, rescheduled, pauseAfter } = batch;
  const lane = turnLane(conversationId);
  const isWhole = hasTrait(account.channel, "complete-messages") || event.chosen === true || event.wantsPerson === true;
  const pauseMs = isWhole ? 0 : pauseAfter(content, hasUnanswered);
  // Stored with the work, so that the wait for the rest happens once, in whichever process runs it.
  const dueAt = now + Math.max(pauseMs, event.group === undefined ? 0 : groupWaitMs);
  const payload = { conversationId, seq, ...(options === undefined ? {} : { options }) };
  changes.addWork({ ...turnKind.queued(lane, payload, dueAt), ...(lease === undefined ? {} : { lease }) });
  if (hasUnanswered) rescheduled.set(lane, dueAt);
}
