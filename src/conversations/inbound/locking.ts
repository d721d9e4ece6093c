import type { ConversationRow } from "#database/queries/conversations.ts";
import { lockContexts, lockLinked } from "#database/queries/conversations.ts";
import { dialectOf } from "#database/dialects/dialect.ts";
import type { IncomingEvent } from "./incoming-event.ts";
import { continuesElsewhere } from "./email-threads.ts";
import type { Tx } from "#database/contract.ts";

export const contextOf = (accountId: string, thread: string): string => `${accountId}\n${thread}`;

const contextOfIncoming = ({ account, event }: IncomingEvent): string =>
  contextOf(account.id, event.kind === "delivery" ? "" : event.thread);

/** The conversations that these events belong to, by account and thread: locked until the transaction ends. */
export async function lockIncoming(tx: Tx, incoming: readonly IncomingEvent[]): Promise<Map<string, ConversationRow>> {
  const found = new Map<string, ConversationRow>();
  const lock = async (of: readonly IncomingEvent[]): Promise<void> => {
    for (const row of await lockContexts(tx, distinctContexts(of))) {
      found.set(contextOf(row.account_id, row.context_key), row);
    }
  };
  const isMissing = (arrival: IncomingEvent): boolean => !found.has(contextOfIncoming(arrival));
  await lock(incoming.filter(({ event }) => event.kind !== "delivery"));
  const beginning = incoming.filter(
    (arrival) => arrival.event.kind === "message" && arrival.event.group !== undefined && isMissing(arrival),
  );
  if (beginning.length > 0 && (await lockAccounts(tx, beginning))) await lock(beginning);
  const elsewhere = incoming.filter((arrival) => continuesElsewhere(arrival) && isMissing(arrival));
  if (elsewhere.length > 0) {
    for (const [context, row] of await lockLinked(tx, distinctContexts(elsewhere))) found.set(context, row);
  }
  return found;
}

/**
 * Parts of one group that two processes are told of at the same moment have no conversation yet whose lock makes one wait
 * for the other: neither would see what the other stores. False where there is one writer anyway.
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
