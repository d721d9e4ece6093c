import type { ConversationRow } from "#database/queries/conversations.ts";
import { lockContexts, lockLinked } from "#database/queries/conversations.ts";
import { dialectOf } from "#database/dialects/dialect.ts";
import type { IncomingEvent } from "#conversations/transaction/incoming-event.ts";
import { continuesElsewhere } from "./email-threads.ts";
import type { Tx } from "#database/contract.ts";

export const contextOf = (accountId: string, thread: string): string => `${accountId}\n${thread}`;

const contextOfIncoming = ({ account, event }: IncomingEvent): string =>
  contextOf(account.id, event.kind === "delivery" ? "" : event.thread);

/** Locks the events' conversations until the transaction ends. Keys of the result: {@link contextOf}. */
export async function lockIncoming(tx: Tx, incoming: readonly IncomingEvent[]): Promise<Map<string, ConversationRow>> {
  const found = new Map<string, ConversationRow>();
  const lock = async (of: readonly IncomingEvent[]): Promise<void> => {
    for (const row of await lockContexts(tx, distinctContexts(of))) {
      found.set(contextOf(row.account_id, row.context_key), row);
    }
  };
  const isMissing = (event: IncomingEvent): boolean => !found.has(contextOfIncoming(event));
  await lock(incoming.filter(({ event }) => event.kind !== "delivery"));
  const beginning = incoming.filter(
    (each) => each.event.kind === "message" && each.event.group !== undefined && isMissing(each),
  );
  if (beginning.length > 0 && (await lockAccounts(tx, beginning))) await lock(beginning);
  const elsewhere = incoming.filter((each) => continuesElsewhere(each) && isMissing(each));
  if (elsewhere.length > 0) {
    for (const [context, row] of await lockLinked(tx, distinctContexts(elsewhere))) found.set(context, row);
  }
  return found;
}

/**
 * Locks the accounts of groups whose conversation does not exist yet. Without this lock, two processes that receive
 * parts of one group at the same time would not see each other's rows. Returns false on databases with a single writer.
 */
async function lockAccounts(tx: Tx, incoming: readonly IncomingEvent[]): Promise<boolean> {
  if (dialectOf(tx) !== "mysql") return false;
  const ids = [...new Set(incoming.map(({ account }) => account.id))];
  await tx.selectFrom("accounts").select("id").where("id", "in", ids).orderBy("id").forUpdate().execute();
  return true;
}

function distinctContexts(incoming: readonly IncomingEvent[]) {
  const contexts = new Map<string, { accountId: string; contextKey: string }>();
  for (const { account, event } of incoming) {
    if (event.kind === "delivery") continue;
    for (const contextKey of event.kind === "moved" ? [event.thread, event.toThread] : [event.thread]) {
      contexts.set(contextOf(account.id, contextKey), { accountId: account.id, contextKey });
    }
  }
  return [...contexts.values()];
}
