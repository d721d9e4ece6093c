import type { Reference } from "#channels/inbound-event.ts";
import type { Tx } from "#database/contract.ts";
import { Problem } from "#domain/problem.ts";
import type { ConversationRow } from "#database/queries/conversations.ts";

/** The earlier message that a message answers, as `messages.refers_to` holds it. At least one of them. */
export interface StoredReference {
  /** A message of the same conversation. */
  readonly message_id?: string;
  /** The part that the customer quotes, or what the platform repeats of a message that is not known here. */
  readonly text?: string;
}

const textMax = 1_000;

/**
 * Finds the message that the platform's event names. `arriving` gives the id of one that the same batch stores. Null where
 * nothing can be shown.
 */
export async function storedReference(
  tx: Tx,
  accountId: string,
  { id, last_seq }: ConversationRow,
  refersTo: Reference | undefined,
  arriving: (externalId: string) => string | undefined,
): Promise<string | null> {
  if (refersTo === undefined) return null;
  const messageId =
    refersTo.externalIds.map(arriving).find((each) => each !== undefined) ??
    (last_seq === 0 ? undefined : await messageNamed(tx, accountId, id, refersTo));
  const said = refersTo.text?.trim().slice(0, textMax).toWellFormed() ?? "";
  const text = messageId === undefined || refersTo.isQuote === true ? said : "";
  if (messageId === undefined && text === "") return null;
  if (refersTo.isUsual === true && (await isLatest(tx, id, last_seq, messageId))) return null;
  const reference: StoredReference = {
    ...(messageId === undefined ? {} : { message_id: messageId }),
    ...(text === "" ? {} : { text }),
  };
  return JSON.stringify(reference);
}

export const referenceIn = (refersTo: string | null): StoredReference | null =>
  refersTo === null ? null : (JSON.parse(refersTo) as StoredReference);

/** Also a message that the same batch stores, which has no row yet. */
async function isLatest(tx: Tx, conversationId: string, lastSeq: number, messageId = ""): Promise<boolean> {
  const later = await tx
    .selectFrom("messages")
    .select("seq")
    .where("id", "=", messageId)
    .where("conversation_id", "=", conversationId)
    .where("seq", "<", lastSeq)
    .executeTakeFirst();
  return later === undefined;
}

/** A reply by one of its parts, or a message of the customer. */
export async function messageNamed(
  tx: Tx,
  accountId: string,
  conversationId: string,
  { externalIds, messageId }: Reference,
): Promise<string | undefined> {
  if (messageId !== undefined) return (await shownMessage(tx, conversationId, messageId))?.id;
  if (externalIds.length === 0) return undefined;
  const reply = await tx
    .selectFrom("deliveries as delivery")
    .innerJoin("messages as message", "message.id", "delivery.message_id")
    .select("message.id")
    .where("delivery.account_id", "=", accountId)
    .where("delivery.external_id", "in", externalIds)
    .where("message.conversation_id", "=", conversationId)
    .limit(1)
    .executeTakeFirst();
  if (reply !== undefined) return reply.id;
  const written = await tx
    .selectFrom("messages")
    .select("id")
    .where("conversation_id", "=", conversationId)
    .where("external_id", "in", externalIds)
    .limit(1)
    .executeTakeFirst();
  return written?.id;
}

/** The reference to a message that an agent answers. Throws Problem `invalid_parameter` where there is no such message. */
export async function referenceTo(tx: Tx, conversationId: string, messageId: string): Promise<string> {
  const message = await shownMessage(tx, conversationId, messageId);
  if (message === undefined) {
    throw new Problem("invalid_parameter", "refers_to: this conversation has no such message, or it was deleted");
  }
  return JSON.stringify({ message_id: message.id } satisfies StoredReference);
}

const shownMessage = (tx: Tx, conversationId: string, messageId: string) =>
  tx
    .selectFrom("messages")
    .select("id")
    .where("id", "=", messageId)
    .where("conversation_id", "=", conversationId)
    .where("deleted_at", "is", null)
    .executeTakeFirst();

/** Removes what other messages quote of a message that is deleted. Returns their ids. */
export async function forgetQuotes(tx: Tx, conversationId: string, messageId: string): Promise<readonly string[]> {
  const rows = await tx
    .selectFrom("messages")
    .select(["id", "refers_to"])
    .where("conversation_id", "=", conversationId)
    .where("refers_to", "like", `%${messageId}%`)
    .execute();
  const quoting = rows.filter(({ refers_to: refersTo }) => {
    const reference = referenceIn(refersTo);
    return reference?.message_id === messageId && reference.text !== undefined;
  });
  const reference: StoredReference = { message_id: messageId };
  for (const { id } of quoting) {
    await tx
      .updateTable("messages")
      .set({ refers_to: JSON.stringify(reference) })
      .where("id", "=", id)
      .execute();
  }
  return quoting.map(({ id }) => id);
}
