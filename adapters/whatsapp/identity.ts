import type { ChannelHost } from "#channels/contract.ts";
import { isTelephoneNumber, threadOf } from "./config.ts";
import type { Contact, UnreadMessage } from "./payloads.ts";

/** A customer as Meta names them: by the number, by their business-scoped ID, or by both. */
export type Identity =
  | { readonly number: string; readonly userId: undefined }
  | { readonly number: string | undefined; readonly userId: string };

/** The thread of a customer. */
export interface Place {
  readonly thread: string;
  /** The customer's key, which is that of their earlier messages. */
  readonly key: string;
  readonly number: string | undefined;
  /** Ids by which later messages find the conversation. */
  readonly messageRefs: readonly string[];
}

const idMax = 150;

/** Undefined: Meta names nobody. A notice about a new ID is about the customer with the previous one. */
export function identityOf(
  { from, from_user_id: sentBy }: Pick<UnreadMessage, "from" | "from_user_id">,
  previousId: string | undefined,
  contacts: readonly Contact[],
): Identity | undefined {
  const ownId = previousId ?? sentBy;
  const contact = contacts.find(
    ({ wa_id: waId, user_id: userId }) =>
      (from !== undefined && waId === from) || (ownId !== undefined && userId === ownId),
  );
  const names = [from, ownId, contact?.wa_id, contact?.user_id].flatMap((name) =>
    name === undefined || name === "" || name.length > idMax ? [] : [threadOf(name)],
  );
  const number = names.find(isTelephoneNumber);
  const userId = names.find((name) => !isTelephoneNumber(name));
  if (userId !== undefined) return { number, userId };
  return number === undefined ? undefined : { number, userId };
}

export const refOf = (userId: string): string => `user:${userId}`;

/**
 * A customer who shows and hides the number keeps one conversation: their ID leads to it, also where a late delivery has an
 * old number. The conversation moves to the number once that is known.
 */
export async function placeOf(
  { threads, accept }: Pick<ChannelHost, "threads" | "accept">,
  { number, userId }: Identity,
  { id, sentAt }: { readonly id: string; readonly sentAt: number },
): Promise<Place> {
  if (userId === undefined) return { thread: number, key: number, number, messageRefs: [] };
  const known = await threads.findByMessageRef([refOf(userId)]);
  const messageRefs = known === null ? [refOf(userId)] : [];
  const isHidden = known === userId || (known === null && (await threads.get(userId)) !== null);
  if (number !== undefined && isHidden) {
    const moved = { kind: "moved", externalId: `moved:${id}`, thread: userId, toThread: number, sentAt } as const;
    await accept({ ...moved, sender: { key: userId } });
    return { thread: number, key: userId, number, messageRefs };
  }
  const thread = known ?? number ?? userId;
  return { thread, key: thread, number: isTelephoneNumber(thread) ? thread : undefined, messageRefs };
}
