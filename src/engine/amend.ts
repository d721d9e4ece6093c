import type { Part, SendContext } from "#channel/contract.ts";
import { DeliveryError } from "#channel/errors.ts";
import type { ConversationRow } from "#store/conversations.ts";
import type { NewWork, OutboxRow } from "#store/outbox.ts";
import { finishWork, insertWork } from "#store/outbox.ts";
import type { DeliveriesTable, MessagesTable } from "#store/schema.ts";
import { lockDraft } from "./lock-draft.ts";
import { attachmentsOf } from "./attachments.ts";
import { indexWork } from "./index-work.ts";
import { sendLane } from "./lanes.ts";
import type { DeliverDependencies } from "./deliver.ts";
import { RetryLater } from "./deliver.ts";
import { storedBytes } from "./stored-bytes.ts";
import { noteProblem } from "./failures.ts";
import { withFiles } from "./outbound-files.ts";
import type { Channels, ConversationSearch, Tx } from "./ports.ts";

/** A change of a reply that an agent has sent: of what the customer sees too. */
export interface Amendment {
  readonly messageId: string;
  readonly conversationId: string;
  /** Null: it is taken back. */
  readonly content: string | null;
}

/** Behind the sends of the same conversation: what is still on its way is changed when it is there. */
const amendWork = (amendment: Amendment, now: number): NewWork => ({
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
export async function amend(dependencies: DeliverDependencies, row: OutboxRow, signal: AbortSignal): Promise<void> {
  const { store, clock, channels, search, files, announce } = dependencies;
  const amendment = JSON.parse(row.payload) as Amendment;
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
  const account = { id: message.account_id };
  const deliveries = await store.read
    .selectFrom("deliveries")
    .selectAll()
    .where("message_id", "=", message.id)
    .orderBy("part")
    .execute();
  // What goes by another way as well, to a visitor who has left, is another text for another adapter.
  const elsewhere = deliveries.filter(({ thread }) => thread !== null);
  let payloads: ReadonlyMap<string, string>;
  let waiting: ReadonlyMap<string, string | null>;
  try {
    await channels.ready(account);
    waiting = await amendWaiting(dependencies, message, elsewhere, amendment.content);
    const parts = amendment.content === null ? [] : await partsOf(dependencies, message, account, amendment.content);
    const own = deliveries.filter(({ thread }) => thread === null);
    payloads = await change(channels, account, parts, own, {
      thread: message.context_key,
      key: `${row.id}.amend`,
      messageId: message.id,
      signal,
      file: (id) => storedBytes({ store, files }, { message_id: message.id }, id),
    });
  } catch (error) {
    if (error instanceof DeliveryError && error.outcome !== "rejected") {
      throw new RetryLater(error.message, error.retryAfterMs, error);
    }
    if (!(error instanceof DeliveryError)) throw error;
    const note = failureText(amendment, error.message);
    announce(
      await store.write(async (tx) => {
        await finishWork(tx, [row]);
        return refuse(tx, search, amendment, note, clock.now());
      }),
    );
    return;
  }
  const effects = await store.write(async (tx) => {
    await finishWork(tx, [row]);
    for (const [id, payload] of waiting) await changeWaiting(tx, id, payload);
    for (const [id, payload] of payloads) {
      await tx.updateTable("deliveries").set({ payload }).where("id", "=", id).execute();
    }
    return storeAmendment(tx, search, amendment, clock.now());
  });
  announce(effects);
}

/** The message as it is to be shown; its files stay as they are. */
async function partsOf(
  { store, channels, files }: DeliverDependencies,
  message: MessagesTable & Pick<ConversationRow, "account_id" | "channel">,
  account: { readonly id: string },
  content: string,
): Promise<readonly Part[]> {
  const attachments = (await attachmentsOf(store.read, [message])).get(message.id) ?? [];
  const text = { role: "agent", authorName: message.author_name, markdown: content, sources: [] } as const;
  return channels.render(account, withFiles(channels, files, message, text, attachments));
}

/** What waits to go by another way goes as it is now, or (null) not at all. What has gone by it cannot be changed. */
async function amendWaiting(
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

/** The platform calls. The parts as they are now, by delivery. */
async function change(
  channels: Channels,
  account: { readonly id: string },
  given: readonly Part[],
  all: readonly DeliveriesTable[],
  context: SendContext,
): Promise<ReadonlyMap<string, string>> {
  const payloads = new Map<string, string>();
  const shown = all.filter(({ state, external_id }) => shownStates.has(state) && external_id !== null);
  if (shown.length < all.length) {
    throw new DeliveryError("rejected", "the reply itself has not reached the customer");
  }
  // It came from elsewhere and is shown here only, as what a colleague has written with the platform's own means.
  if (all.length === 0) throw new DeliveryError("rejected", "it was not sent from this conversation");
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
      await channels.remove(account, externalId, { ...context, key: `${context.key}.${i}` });
      continue;
    }
    const payload = JSON.stringify(part);
    if (payload === delivery.payload) continue;
    await channels.edit(account, part, externalId, { ...context, key: `${context.key}.${i}` });
    payloads.set(delivery.id, payload);
  }
  return payloads;
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

/** The text as it is from now on, for everybody who reads the conversation. */
export async function storeAmendment(
  tx: Tx,
  search: ConversationSearch,
  { messageId, conversationId, content }: Amendment,
  now: number,
) {
  const draft = await lockDraft(tx, search, conversationId, now);
  if (draft === undefined) return null;
  await tx
    .updateTable("messages")
    .set(content === null ? { content: "", deleted_at: now } : { content, edited_at: now })
    .where("id", "=", messageId)
    .where("deleted_at", "is", null)
    .execute();
  draft.changes.addWork(indexWork([conversationId], now));
  draft.draft.messageUpdated(messageId);
  return draft.changes.flush(tx);
}

const failureText = ({ content }: Amendment, reason: string): string =>
  content === null
    ? `This reply could not be taken back, and the customer still sees it: ${reason}`
    : `The change of this reply did not reach the customer, who still sees the text before it: ${reason}`;

async function refuse(tx: Tx, search: ConversationSearch, { conversationId }: Amendment, note: string, now: number) {
  const found = await lockDraft(tx, search, conversationId, now);
  if (found === undefined) return null;
  await noteProblem(tx, found.draft, note, now);
  return found.changes.flush(tx);
}

/** What is stored when a change was tried as often as it may be. */
export function abandonAmendment(tx: Tx, search: ConversationSearch, row: OutboxRow, reason: string, now: number) {
  const amendment = JSON.parse(row.payload) as Amendment;
  return refuse(tx, search, amendment, failureText(amendment, reason), now);
}

/**
 * Changes a reply, or takes it back (`content` null): at once where the customer fetches it, else by work. The text that
 * tells why it cannot be is for the agent; null: it is done, or on its way.
 */
export async function askAmendment(
  tx: Tx,
  channels: Channels,
  search: ConversationSearch,
  amendment: Amendment,
  now: number,
): Promise<{ readonly refusal: string | null; readonly effects: Awaited<ReturnType<typeof storeAmendment>> }> {
  const { conversationId, content } = amendment;
  const row = await tx
    .selectFrom("conversations")
    .select(["account_id", "channel"])
    .where("id", "=", conversationId)
    .executeTakeFirstOrThrow();
  if (row.channel === "api") {
    return { refusal: null, effects: await storeAmendment(tx, search, amendment, now) };
  }
  if (!channels.can({ id: row.account_id }, content === null ? "remove" : "edit")) {
    const what = content === null ? "taken back" : "changed";
    return {
      refusal: `Nothing was changed for the customer: on ${row.channel} a message cannot be ${what} once it is sent.`,
      effects: null,
    };
  }
  const work = amendWork(amendment, now);
  await insertWork(tx, [work], now);
  return { refusal: null, effects: { wake: [{ lane: work.lane, dueAt: now }], threads: [], workspaces: [] } };
}
