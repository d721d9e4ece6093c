import { systemActor } from "#domain/conversation/message.ts";
import { channelLabel } from "#channels/catalog.ts";
import { sendKind } from "#conversations/transaction/effects/send-plan.ts";
import type { Work, WorkDeclaration } from "#database/work.ts";
import { declareWork, eachRow } from "#database/work.ts";
import type { ConversationRow } from "#database/queries/conversations.ts";
import { linkConversations, lockConversation } from "#database/queries/conversations.ts";
import { finishWork } from "#database/queries/outbox.ts";
import type { MessagesTable } from "#database/schema/tables.ts";
import { lockDraft } from "#conversations/transaction/lock-conversation.ts";
import { attachmentsOf } from "#conversations/attachments/attachments.ts";
import type { UnitOfWork, Draft } from "#conversations/transaction/draft.ts";
import type { Effects, PublishEffects } from "#conversations/work/effects.ts";
import { createUnitOfWork } from "#conversations/transaction/unit-of-work.ts";
import { followLane } from "#queue/lanes.ts";
import { showContact } from "#conversations/contacts/contacts.ts";
import { noteFailure } from "#conversations/delivery/failures.ts";
import { outboundReference, renderReply, unnamed } from "#conversations/references/outbound-reference.ts";
import { withFiles } from "#conversations/attachments/outbound-links.ts";
import type { Part } from "#channels/inbound-event.ts";
import type { Channels } from "#channels/channels.ts";
import type { Clock } from "#runtime/clock.ts";
import type { ConversationSearch } from "#database/search/contract.ts";
import type { Files } from "#files/contract.ts";
import type { Log } from "#runtime/log.ts";
import type { Store, Tx } from "#database/contract.ts";
import type { Reroute } from "#conversations/work/reroute-work.ts";
import { rerouteKind } from "#conversations/work/reroute-work.ts";
import type { OtherRoute } from "./reply-window.ts";
import { contactOf, findOtherRoute, provenAddress } from "./reply-window.ts";
import { claim } from "#conversations/transaction/owner.ts";
import { insertNote } from "#conversations/transaction/insert-note.ts";
import { settingsIn } from "#database/queries/workspaces.ts";

/** Tag of conversations in which an agent's reply did not reach the customer. The next sent reply removes it. */
export const needsAction = "needs_action";

export interface RerouteDependencies {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly channels: Channels;
  readonly search: ConversationSearch;
  readonly files: Pick<Files, "link">;
}

/**
 * Sends an agent's reply through another channel after the reply window of its own has closed. Without another route it
 * becomes a task for the agents. It is work of its own because adapters must be loaded outside a transaction. Replies of
 * the bot are not rerouted: they answer a message on this channel.
 */
async function reroute(dependencies: RerouteDependencies, row: Work<Reroute>): Promise<Effects | null> {
  const { store, clock, log, channels, search } = dependencies;
  const { conversationId, messageId, reason } = row.payload;
  const found = await store.read
    .selectFrom("conversations")
    .selectAll()
    .where("id", "=", conversationId)
    .executeTakeFirst();
  const message = await store.read.selectFrom("messages").selectAll().where("id", "=", messageId).executeTakeFirst();
  const way =
    found === undefined || message?.role !== "agent"
      ? null
      : await findOtherRoute({ read: store.read, channels, log, now: clock.now() }, found);
  return store.write(async (tx) => {
    await finishWork(tx, [row]);
    if (found === undefined || message === undefined) return null;
    const locked = await lockBoth(tx, found.workspace_id, conversationId, way);
    const own = locked.get(conversationId);
    if (own === undefined) return null;
    const failed = await failedParts(tx, messageId, own.account_id);
    // The failure of another part has rerouted the message already.
    if (failed.length === 0 || failed.some(({ error }) => error?.startsWith(taskBegins) === true)) return null;
    const changes = createUnitOfWork(clock.now(), search);
    const draft = changes.track(own, await settingsIn(tx, own.workspace_id), false);
    // The message is on another route already; platforms report the failure of each part separately.
    if (await goesElsewhere(tx, messageId, own.account_id)) {
      await dropParts(tx, failed);
      draft.syncDesk({ kind: "fate", id: messageId });
      return changes.flush(tx);
    }
    const otherConversation = way?.kind === "thread" ? locked.get(way.conversationId) : undefined;
    if (way === null || !(await isStillTheirs(tx, own, way, otherConversation))) {
      await makeTask(tx, changes, draft, messageId, reason);
    } else {
      const names = await sendBy(dependencies, tx, changes, draft, message, way, reason);
      if (otherConversation !== undefined) await showInOtherThread(tx, changes, otherConversation, own, message, names);
    }
    return changes.flush(tx);
  });
}

/** Locks both conversations in the order of their ids, to avoid a deadlock. */
async function lockBoth(tx: Tx, workspaceId: string, conversationId: string, way: OtherRoute | null) {
  const ids = [conversationId, ...(way?.kind === "thread" ? [way.conversationId] : [])].toSorted();
  const rows = new Map<string, ConversationRow>();
  for (const id of ids) {
    const row = await lockConversation(tx, workspaceId, id);
    if (row !== undefined) rows.set(id, row);
  }
  return rows;
}

function failedParts(tx: Tx, messageId: string, accountId: string) {
  return tx
    .selectFrom("deliveries")
    .select(["id", "error"])
    .where("message_id", "=", messageId)
    .where("account_id", "=", accountId)
    .where("state", "=", "failed")
    .execute();
}

/** Whether the message is queued or sent through another account. */
async function goesElsewhere(tx: Tx, messageId: string, accountId: string): Promise<boolean> {
  const part = await tx
    .selectFrom("deliveries")
    .select("id")
    .where("message_id", "=", messageId)
    .where("account_id", "!=", accountId)
    .where("state", "!=", "failed")
    .limit(1)
    .executeTakeFirst();
  return part !== undefined;
}

/** Deletes failed parts of a message that has another route. */
async function dropParts(tx: Tx, parts: readonly { readonly id: string }[]): Promise<void> {
  const ids = parts.map(({ id }) => id);
  await tx.deleteFrom("receipts").where("delivery_id", "in", ids).execute();
  await tx.deleteFrom("deliveries").where("id", "in", ids).execute();
}

/** Checks under the lock that the route still leads to the same contact: contacts can be split meanwhile. */
async function isStillTheirs(
  tx: Tx,
  own: ConversationRow,
  way: OtherRoute,
  otherConversation: ConversationRow | undefined,
): Promise<boolean> {
  if (way.kind === "email") {
    const contact = await contactOf(tx, own.contact_id);
    return contact !== undefined && provenAddress(contact) === way.address;
  }
  return otherConversation?.contact_id === own.contact_id && otherConversation.status !== "archived";
}

/** Queues the reply on the other route. Returns the names of its files, which are sent as files or links. */
async function sendBy(
  { channels, files }: RerouteDependencies,
  tx: Tx,
  changes: UnitOfWork,
  draft: Draft,
  message: MessagesTable,
  way: OtherRoute,
  reason: string,
): Promise<readonly string[]> {
  const { row } = draft;
  const attached = (await attachmentsOf(tx, [message])).get(message.id) ?? [];
  const refersTo = await outboundReference(tx, row, message.refers_to);
  const outbound = withFiles(
    channels,
    files,
    { account_id: way.accountId, channel: way.kind === "email" ? "email" : way.channel },
    {
      role: "agent",
      authorName: message.author_name,
      markdown: message.content,
      sources: [],
      ...(refersTo === undefined ? {} : { refersTo }),
    },
    attached,
  );
  const parts = renderReply(channels.adapter({ id: way.accountId }), unnamed(outbound));
  const { last } = await tx
    .selectFrom("deliveries")
    .select((eb) => eb.fn.max("part").as("last"))
    .where("message_id", "=", message.id)
    .executeTakeFirstOrThrow();
  await dropParts(tx, await failedParts(tx, message.id, row.account_id));
  const thread = way.kind === "email" ? row.id : way.thread;
  if (way.kind === "email") {
    // The address may have been verified in another conversation. This one must show where its replies go.
    const contact = await contactOf(tx, row.contact_id);
    if (contact !== undefined) {
      showContact(draft, { contact, ownerId: row.own_contact_id ?? contact.id }, systemActor("delivery"));
    }
    draft.touch();
    await linkConversations(tx, [{ account_id: way.accountId, kind: "thread", name: row.id, conversation_id: row.id }]);
  }
  await queueParts(tx, changes, { row, message, parts, from: (last ?? -1) + 1, accountId: way.accountId, thread });
  const explanation =
    way.kind === "email"
      ? `This reply goes to the customer's verified e-mail address ${way.address} instead. Their answer by e-mail comes into this conversation.`
      : `This reply goes to the same customer by ${channelLabel(way.channel)} instead. Their answer comes into their conversation there, ${way.conversationId}.`;
  await note(tx, draft, `${sentence(reason)} ${explanation}`, changes.now);
  return attached.map(({ name }) => name);
}

interface ReroutedParts {
  readonly row: ConversationRow;
  readonly message: MessagesTable;
  readonly parts: readonly Part[];
  /** Number of the first part. */
  readonly from: number;
  readonly accountId: string;
  readonly thread: string;
}

async function queueParts(
  tx: Tx,
  changes: UnitOfWork,
  { row, message, parts, from, accountId, thread }: ReroutedParts,
): Promise<void> {
  for (const [index, part] of parts.entries()) {
    const number = from + index;
    const id = `${message.id}.${number}`;
    await tx
      .insertInto("deliveries")
      .values({
        id,
        account_id: accountId,
        thread,
        unless_seen: null,
        conversation_id: row.id,
        message_id: message.id,
        part: number,
        payload: JSON.stringify(part),
        state: "queued",
        external_id: null,
        attempts: 0,
        error: null,
        started_at: null,
        settled_at: null,
      })
      .execute();
    changes.addWork(sendKind.queued(followLane(row.id), { deliveryId: id }, changes.now));
  }
}

/**
 * Shows the text in the other conversation's thread, as a person's message. Files belong to their conversation, so only
 * their names are shown here.
 */
async function showInOtherThread(
  tx: Tx,
  changes: UnitOfWork,
  otherConversation: ConversationRow,
  from: ConversationRow,
  message: MessagesTable,
  files: readonly string[],
): Promise<void> {
  const draft = changes.track(otherConversation, await settingsIn(tx, otherConversation.workspace_id), false);
  const email = message.author_id ?? "";
  if (otherConversation.status === "open" || otherConversation.status === "escalated") {
    claim(draft, email, { type: "agent", id: email, name: message.author_name });
  }
  draft.addMessage({
    role: "agent",
    content: [message.content, ...files.map((name) => `[file: ${name}]`)].filter((text) => text !== "").join("\n\n"),
    authorId: message.author_id,
    authorName: message.author_name,
  });
  draft.row.settled_seq = draft.row.last_customer_seq;
  const explanation = `This reply was written in the conversation ${from.id} on ${channelLabel(from.channel)}, which takes no message to the customer at the moment, and was sent here.`;
  const filesExplanation = ` Its files went with it, or links to those that this channel does not carry; you can open them in the conversation ${from.id}.`;
  await note(tx, draft, files.length === 0 ? explanation : explanation + filesExplanation, changes.now);
}

const taskBegins = "Needs action: ";

async function makeTask(tx: Tx, changes: UnitOfWork, draft: Draft, messageId: string, reason: string): Promise<void> {
  const { row } = draft;
  const text = `${taskBegins}this message has not reached the customer. ${sentence(reason)} No other channel of theirs is verified: answer when they write again, or reach them in another way.`;
  await tx
    .updateTable("deliveries")
    .set({ error: text })
    .where("message_id", "=", messageId)
    .where("account_id", "=", row.account_id)
    .where("state", "=", "failed")
    .execute();
  await noteFailure(tx, changes, { conversation_id: row.id, message_id: messageId }, text);
  if (!(await hasTask(tx, row.id))) draft.setTags([needsAction], [], systemActor("delivery"));
}

export async function hasTask(tx: Tx, conversationId: string): Promise<boolean> {
  const tag = await tx
    .selectFrom("conversation_tags")
    .select("tag")
    .where("conversation_id", "=", conversationId)
    .where("tag", "=", needsAction)
    .executeTakeFirst();
  return tag !== undefined;
}

const sentence = (reason: string): string => `${reason.charAt(0).toUpperCase()}${reason.slice(1).replace(/\.?$/, ".")}`;

async function note(tx: Tx, draft: Draft, content: string, now: number): Promise<void> {
  await insertNote(tx, draft, { content, authorEmail: "system" }, systemActor("delivery"), now);
}

export function declareReroute(
  dependencies: RerouteDependencies & { readonly publishEffects: PublishEffects },
): WorkDeclaration {
  const { search, publishEffects } = dependencies;
  return declareWork(rerouteKind, {
    attemptsMax: 12,
    run: eachRow(async (row) => publishEffects(await reroute(dependencies, row))),
    async onAbandon(tx, { payload: { conversationId, messageId, reason } }, _failure, now) {
      const locked = await lockDraft(tx, search, conversationId, now);
      if (locked === undefined) return () => undefined;
      const { changes, draft } = locked;
      await makeTask(tx, changes, draft, messageId, reason);
      const effects = await changes.flush(tx);
      return () => publishEffects(effects);
    },
  });
}
