import type { SendContext } from "#channels/contract.ts";
import type { Part } from "#channels/inbound-event.ts";
import { DeliveryError } from "#channels/errors.ts";
import { channelNames } from "#domain/conversation/message.ts";
import type { ConversationRow } from "#database/queries/conversations.ts";
import type { NewWork, OutboxRow } from "#database/queries/outbox.ts";
import { LostLease, finishWork, insertWork, isHeld } from "#database/queries/outbox.ts";
import type { DeliveriesTable, MessagesTable } from "#database/schema/tables.ts";
import { lockDraft } from "#conversations/transaction/lock-conversation.ts";
import type { ReplyEdit } from "#conversations/agents/edits.ts";
import { waitingEdits, lastOf, partsOf, storeEdit } from "#conversations/agents/edits.ts";
import { sendLane } from "#queue/lanes.ts";
import type { DeliverDependencies } from "./deliver-dependencies.ts";
import { RetryLater } from "./retry-later.ts";
import { storedBytes } from "#conversations/attachments/stored-bytes.ts";
import { noteProblem } from "./failures.ts";
import type { Channels } from "#channels/channels.ts";
import type { ConversationSearch } from "#database/search/contract.ts";
import type { Tx } from "#database/contract.ts";

/** Behind the sends of the same conversation: what is still on its way is changed when it is there. */
const editWork = (amendment: ReplyEdit, now: number): NewWork => ({
  lane: sendLane(amendment.conversationId),
  kind: "amend",
  payload: amendment,
  dueAt: now,
});

const shownStates: ReadonlySet<string> = new Set(["sent", "delivered", "read"]);

/**
 * Changes a reply where the customer sees it, and then in the conversation. To change it twice does no harm, so a failed
 * try is simply repeated. What the platform refuses is noted, and the conversation keeps the text that the customer sees.
 */
export async function editSentReply(
  dependencies: DeliverDependencies,
  row: OutboxRow,
  signal: AbortSignal,
): Promise<void> {
  const { store, clock, channels, search, files, publishEffects } = dependencies;
  const amendment = JSON.parse(row.payload) as ReplyEdit;
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
  // What comes next would only change it again; and it may have gone out as that already.
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
  // What goes by another way as well, to a visitor who has left, is another text for another adapter.
  const elsewhere = deliveries.filter(({ thread }) => thread !== null);
  let changed: EditResult;
  let waiting: ReadonlyMap<string, string | null>;
  try {
    await channels.ready(account);
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
        // What slept must not bring back what another has changed since.
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
    // What a shorter text has no need of is no part of the reply any more: nothing can be changed in it later.
    if (amendment.content !== null) await removeDeliveries(tx, changed.removed);
    return storeEdit(tx, search, amendment, clock.now());
  });
  publishEffects(effects);
}

/** What waits to go by another way goes as it is now, or (null) not at all. What has gone by it cannot be changed. */
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
  // Meanwhile it was seen where the conversation is, and goes nowhere else.
  if (still === undefined) return;
  if (still.state !== "queued") throw new RetryLater("the reply is just going by another way", 1_000, undefined);
  if (payload === null) await tx.deleteFrom("deliveries").where("id", "=", id).execute();
  else await tx.updateTable("deliveries").set({ payload }).where("id", "=", id).execute();
}

interface EditResult {
  /** The parts as they are now, by delivery. */
  readonly payloads: ReadonlyMap<string, string>;
  /** Deliveries whose parts were taken back. */
  readonly removed: readonly string[];
}

async function removeDeliveries(tx: Tx, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await tx.deleteFrom("receipts").where("delivery_id", "in", ids).execute();
  await tx.deleteFrom("deliveries").where("id", "in", ids).execute();
}

/** The platform calls. */
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
  // It came from elsewhere and is shown here only, as what a colleague has written with the platform's own means.
  if (all.length === 0) throw new DeliveryError("rejected", "it was not sent from this conversation");
  const rest = all.filter((each) => !shown.includes(each));
  const isRemoval = given.length === 0;
  const hasFailed = ({ state }: DeliveriesTable): boolean => state === "failed";
  if (!isRemoval && rest.some(hasFailed)) throw new NeverArrived();
  // What has never arrived need not be taken back.
  if (!rest.every(hasFailed)) {
    throw new DeliveryError(
      "rejected",
      rest.some(({ state }) => shownStates.has(state))
        ? "the platform has not told which of its messages this is"
        : "it is not known whether the reply itself has arrived",
    );
  }
  // Files come last, and are not touched by a change of the text before them.
  const same = sameAtEnd(given, all);
  const parts = given.slice(0, given.length - same);
  const deliveries = shown.slice(0, shown.length - same);
  const isNeeded = (what: "edit" | "remove", needed: boolean): void => {
    if (needed && !channels.can(account, what)) {
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
      await channels.remove(account, externalId, { ...context, key: `${context.key}.${i}` });
      removed.push(delivery.id);
      continue;
    }
    const payload = JSON.stringify(part);
    if (payload === delivery.payload) continue;
    await begin();
    await channels.edit(account, part, externalId, { ...context, key: `${context.key}.${i}` });
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

/** What is stored when a change was tried as often as it may be. */
export function abandonEdit(tx: Tx, search: ConversationSearch, row: OutboxRow, reason: string, now: number) {
  const amendment = JSON.parse(row.payload) as ReplyEdit;
  return refuseEdit(tx, search, amendment, failureText(amendment, reason), now);
}

/**
 * Changes a reply, or takes it back (`content` null): at once where the customer fetches it, else by work. The text that
 * tells why it cannot be is for the agent; null: it is done, or on its way.
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
  const isEach = (wanted: (each: (typeof deliveries)[number]) => boolean): boolean =>
    deliveries.length > 0 && deliveries.every(wanted);
  if (content !== null && isEach(({ state }) => state === "failed")) return { refusal: neverArrived, effects: null };
  if (content === null && isEach(({ state, external_id: id }) => state === "failed" && id === null)) {
    return { refusal: null, effects: await storeEdit(tx, search, amendment, now) };
  }
  // As long as the platform does not have it, it can go out as it is to be, or not at all; what has gone meanwhile is told.
  const isOnItsWay = isEach(({ state, thread }) => (state === "queued" || state === "sending") && thread === null);
  if (!isOnItsWay && !channels.can({ id: row.account_id }, content === null ? "remove" : "edit")) {
    return {
      refusal: `Nothing was changed for the customer, who keeps the text as it was sent: ${channelNames[row.channel]} lets nobody ${content === null ? "take back" : "change"} a message once it is sent.`,
      effects: null,
    };
  }
  const work = editWork(amendment, now);
  await insertWork(tx, [work], now);
  return { refusal: null, effects: { wake: [{ lane: work.lane, dueAt: now }], threads: [], workspaces: [] } };
}
