import type { SendContext } from "#channels/contract.ts";
import type { Work, WorkDeclaration } from "#database/work.ts";
import { declareWork, eachRow } from "#database/work.ts";
import type { Part } from "#channels/inbound-event.ts";
import { DeliveryError } from "#channels/errors.ts";
import { channelLabel } from "#channels/catalog.ts";
import type { ConversationRow } from "#database/queries/conversations.ts";
import type { NewWork } from "#database/queries/outbox.ts";
import { LostLease, finishWork, insertWork, isHeld } from "#database/queries/outbox.ts";
import type { DeliveriesTable, MessagesTable } from "#database/schema/tables.ts";
import { lockDraft } from "#conversations/transaction/lock-conversation.ts";
import type { ReplyEdit } from "./reply-edits.ts";
import { waitingEdits, lastOf, partsOf, replyEditKind, storeEdit } from "./reply-edits.ts";
import { sendLane } from "#queue/lanes.ts";
import type { DeliverDependencies } from "./deliver-dependencies.ts";
import { requireRunning, waitsForResumption } from "./paused.ts";
import { RetryLater } from "#queue/retry-later.ts";
import { storedBytes } from "#conversations/attachments/stored-bytes.ts";
import { noteProblem } from "./failures.ts";
import type { Channels } from "#channels/channels.ts";
import type { ConversationSearch } from "#database/search/contract.ts";
import type { Tx } from "#database/contract.ts";

/** Queued after the sends of the same conversation, so that a pending reply is sent first and then edited. */
const editWork = (amendment: ReplyEdit, now: number): NewWork =>
  replyEditKind.queued(sendLane(amendment.conversationId), amendment, now);

const shownStates: ReadonlySet<string> = new Set(["sent", "delivered", "read"]);

/**
 * Edits a reply on the platform, and then in the conversation. Editing twice does no harm, so a failed attempt is
 * simply retried. If the platform refuses, a note is added, and the conversation keeps the text that the customer sees.
 */
async function editSentReply(
  dependencies: DeliverDependencies,
  row: Work<ReplyEdit>,
  signal: AbortSignal,
): Promise<void> {
  const { store, clock, channels, search, files, publishEffects } = dependencies;
  const amendment = row.payload;
  const message = await store.read
    .selectFrom("messages")
    .innerJoin("conversations", "conversations.id", "messages.conversation_id")
    .selectAll("messages")
    .select(["conversations.context_key", "conversations.account_id", "conversations.channel"])
    .where("messages.id", "=", amendment.messageId)
    .executeTakeFirst();
  if (message === undefined || message.deleted_at !== null) {
    await store.write((tx) => finishWork(tx, [row]));
    return;
  }
  const later = (await waitingEdits(store.read, message.conversation_id)).filter(
    (each) => each.id > row.id && each.amendment.messageId === message.id,
  );
  // A later edit replaces this one, and the reply may have been sent with the later text already.
  if (lastOf([amendment, ...later.map((each) => each.amendment)]) !== amendment) {
    await store.write((tx) => finishWork(tx, [row]));
    return;
  }
  const account = { id: message.account_id };
  const deliveries = await store.read
    .selectFrom("deliveries")
    .selectAll()
    .where("message_id", "=", message.id)
    .orderBy("part")
    .execute();
  // Parts sent through another account, such as to a visitor who has left, have a text rendered by another adapter.
  const elsewhere = deliveries.filter(({ thread }) => thread !== null);
  let changed: EditResult;
  let waiting: ReadonlyMap<string, string | null>;
  try {
    await channels.ready(account);
    await requireRunning(store.read, channels, account);
    waiting = await editWaiting(dependencies, message, elsewhere, amendment.content);
    const own = deliveries.filter(({ thread }) => thread === null);
    const parts =
      amendment.content === null ? [] : await partsOf(dependencies, message, account, amendment.content, own.length);
    changed = await change(channels, account, parts, own, {
      thread: message.context_key,
      key: `${row.id}.amend`,
      messageId: message.id,
      signal,
      file: (id) => storedBytes({ store, files }, { message_id: message.id }, id),
      async begin() {
        // A process that lost its lease must not overwrite a newer edit.
        if (!(await isHeld(store, row))) throw new LostLease();
      },
    });
  } catch (error) {
    if (error instanceof DeliveryError && error.outcome !== "rejected") {
      throw new RetryLater(error.message, error.retryAfterMs, error);
    }
    if (!(error instanceof DeliveryError)) throw error;
    const note = error instanceof NeverArrived ? error.message : failureText(amendment, error.message);
    publishEffects(
      await store.write(async (tx) => {
        await finishWork(tx, [row]);
        return refuseEdit(tx, search, amendment, note, clock.now());
      }),
    );
    return;
  }
  const effects = await store.write(async (tx) => {
    await finishWork(tx, [row]);
    for (const [id, payload] of waiting) await changeWaiting(tx, id, payload);
    for (const [id, payload] of changed.payloads) {
      await tx.updateTable("deliveries").set({ payload }).where("id", "=", id).execute();
    }
    // Parts that a shorter text does not need are deleted, since they cannot be edited any more.
    if (amendment.content !== null) await removeDeliveries(tx, changed.removed);
    return storeEdit(tx, search, amendment, clock.now());
  });
  publishEffects(effects);
}

/**
 * Returns the new payloads of parts queued for another account; null: delete the part. Throws if such a part was sent,
 * since it cannot be edited.
 */
async function editWaiting(
  dependencies: DeliverDependencies,
  message: MessagesTable & Pick<ConversationRow, "account_id" | "channel">,
  elsewhere: readonly DeliveriesTable[],
  content: string | null,
): Promise<ReadonlyMap<string, string | null>> {
  if (elsewhere.some(({ state }) => state !== "queued" && state !== "failed")) {
    throw new DeliveryError("rejected", "it has also gone to the customer by another way, where it stays as it was");
  }
  const waiting = elsewhere.filter(({ state }) => state === "queued");
  const [first] = waiting;
  if (first === undefined) return new Map();
  const account = { id: first.account_id };
  await dependencies.channels.ready(account);
  const parts = content === null ? [] : await partsOf(dependencies, message, account, content);
  if (parts.length > waiting.length) {
    throw new DeliveryError("rejected", "the new text does not fit into the message that follows the customer");
  }
  return new Map(waiting.map(({ id }, i) => [id, parts[i] === undefined ? null : JSON.stringify(parts[i])] as const));
}

async function changeWaiting(tx: Tx, id: string, payload: string | null): Promise<void> {
  const still = await tx.selectFrom("deliveries").select("state").where("id", "=", id).executeTakeFirst();
  // The part was deleted: the customer has seen the message in the conversation.
  if (still === undefined) return;
  if (still.state !== "queued") throw new RetryLater("the reply is just going by another way", 1_000, undefined);
  if (payload === null) await tx.deleteFrom("deliveries").where("id", "=", id).execute();
  else await tx.updateTable("deliveries").set({ payload }).where("id", "=", id).execute();
}

interface EditResult {
  /** The new payloads, by delivery. */
  readonly payloads: ReadonlyMap<string, string>;
  /** Deliveries whose parts were deleted on the platform. */
  readonly removed: readonly string[];
}

async function removeDeliveries(tx: Tx, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await tx.deleteFrom("receipts").where("delivery_id", "in", ids).execute();
  await tx.deleteFrom("deliveries").where("id", "in", ids).execute();
}

/** Makes the platform calls. */
async function change(
  channels: Channels,
  account: { readonly id: string },
  given: readonly Part[],
  all: readonly DeliveriesTable[],
  { begin, ...context }: SendContext & { readonly begin: () => Promise<void> },
): Promise<EditResult> {
  const payloads = new Map<string, string>();
  const removed: string[] = [];
  const shown = all.filter(({ state, external_id }) => shownStates.has(state) && external_id !== null);
  // The message was written with the platform's own tools, and is only shown here.
  if (all.length === 0) throw new DeliveryError("rejected", "it was not sent from this conversation");
  const rest = all.filter((each) => !shown.includes(each));
  const isRemoval = given.length === 0;
  const hasFailed = ({ state }: DeliveriesTable): boolean => state === "failed";
  if (!isRemoval && rest.some(hasFailed)) throw new NeverArrived();
  // A part that has never arrived need not be deleted.
  if (!rest.every(hasFailed)) {
    throw new DeliveryError(
      "rejected",
      rest.some(({ state }) => shownStates.has(state))
        ? "the platform has not told which of its messages this is"
        : "it is not known whether the reply itself has arrived",
    );
  }
  // Files are last, and a change of the text does not affect them.
  const same = sameAtEnd(given, all);
  const parts = given.slice(0, given.length - same);
  const deliveries = shown.slice(0, shown.length - same);
  const isNeeded = (what: "edit" | "remove", needed: boolean): void => {
    if (needed && channels.adapter(account)[what] === undefined) {
      throw new DeliveryError(
        "rejected",
        `messages cannot be ${what === "edit" ? "changed" : "taken back"} on this channel`,
      );
    }
  };
  isNeeded("edit", parts.length > 0);
  isNeeded("remove", deliveries.length > parts.length);
  if (parts.length > deliveries.length) {
    throw new DeliveryError("rejected", "the new text does not fit into the message that was sent");
  }
  for (const [i, delivery] of deliveries.entries()) {
    const externalId = delivery.external_id ?? "";
    const part: Part | undefined = parts[i];
    if (part === undefined) {
      await begin();
      await channels.adapter(account).remove?.(externalId, { ...context, key: `${context.key}.${i}` });
      removed.push(delivery.id);
      continue;
    }
    const payload = JSON.stringify(part);
    if (payload === delivery.payload) continue;
    await begin();
    await channels.adapter(account).edit?.(part, externalId, { ...context, key: `${context.key}.${i}` });
    payloads.set(delivery.id, payload);
  }
  return { payloads, removed };
}

function sameAtEnd(parts: readonly Part[], deliveries: readonly DeliveriesTable[]): number {
  let same = 0;
  while (
    same < Math.min(parts.length, deliveries.length) &&
    JSON.stringify(parts.at(-1 - same)) === deliveries.at(-1 - same)?.payload
  ) {
    same += 1;
  }
  return same;
}

const neverArrived =
  "Nothing was changed: this reply has not reached the customer as a whole. Write it again as it is to be.";

class NeverArrived extends DeliveryError {
  constructor() {
    super("rejected", neverArrived);
  }
}

const failureText = ({ content }: ReplyEdit, reason: string): string =>
  content === null
    ? `This reply could not be taken back, and the customer still sees it: ${reason}`
    : `The change of this reply did not reach the customer, who still sees the text before it: ${reason}`;

async function refuseEdit(
  tx: Tx,
  search: ConversationSearch,
  { conversationId }: ReplyEdit,
  note: string,
  now: number,
) {
  const found = await lockDraft(tx, search, conversationId, now);
  if (found === undefined) return null;
  await noteProblem(tx, found.draft, note, now);
  return found.changes.flush(tx);
}

export function declareReplyEdit(dependencies: DeliverDependencies): WorkDeclaration {
  return declareWork(replyEditKind, {
    attemptsMax: 12,
    ...waitsForResumption,
    run: eachRow((row, signal) => editSentReply(dependencies, row, signal)),
    async onAbandon(tx, { payload }, reason, now) {
      const effects = await refuseEdit(tx, dependencies.search, payload, failureText(payload, reason), now);
      return () => dependencies.publishEffects(effects);
    },
  });
}

/**
 * Edits a reply, or deletes it (`content` null): at once if the customer fetches it, otherwise by queued work.
 * `refusal` is a text for the agent; null: done or queued.
 */
export async function requestEdit(
  tx: Tx,
  channels: Channels,
  search: ConversationSearch,
  amendment: ReplyEdit,
  now: number,
): Promise<{ readonly refusal: string | null; readonly effects: Awaited<ReturnType<typeof storeEdit>> }> {
  const { conversationId, content } = amendment;
  const row = await tx
    .selectFrom("conversations")
    .select(["account_id", "channel"])
    .where("id", "=", conversationId)
    .executeTakeFirstOrThrow();
  if (row.channel === "api") {
    return { refusal: null, effects: await storeEdit(tx, search, amendment, now) };
  }
  const deliveries = await tx
    .selectFrom("deliveries")
    .select(["state", "thread", "external_id"])
    .where("message_id", "=", amendment.messageId)
    .execute();
  const isEach = (matches: (each: (typeof deliveries)[number]) => boolean): boolean =>
    deliveries.length > 0 && deliveries.every(matches);
  if (content !== null && isEach(({ state }) => state === "failed")) return { refusal: neverArrived, effects: null };
  if (content === null && isEach(({ state, external_id: id }) => state === "failed" && id === null)) {
    return { refusal: null, effects: await storeEdit(tx, search, amendment, now) };
  }
  // A pending reply can still be sent with the new text, or not at all. If it is sent before, the queued work reports
  // the refusal.
  const isOnItsWay = isEach(({ state, thread }) => (state === "queued" || state === "sending") && thread === null);
  if (!isOnItsWay && channels.adapter({ id: row.account_id })[content === null ? "remove" : "edit"] === undefined) {
    return {
      refusal: `Nothing was changed for the customer, who keeps the text as it was sent: ${channelLabel(row.channel)} lets nobody ${content === null ? "take back" : "change"} a message once it is sent.`,
      effects: null,
    };
  }
  const work = editWork(amendment, now);
  await insertWork(tx, [work], now);
  return { refusal: null, effects: { wake: [{ lane: work.lane, dueAt: now }], threads: [], workspaces: [] } };
}
