import type { ThreadState } from "#channels/contract.ts";
import { agentName } from "#database/queries/agents.ts";
import type { Reader } from "#database/contract.ts";

interface PendingRead {
  readonly resolve: (state: ThreadState | null) => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * Reads the delivery states of an account's threads. Requests of one turn of the event loop share one statement, since
 * a stored batch of messages asks for each of its threads.
 */
export function createThreadStates(
  db: Reader,
  account: { readonly id: string; readonly workspaceId: string },
): (thread: string) => Promise<ThreadState | null> {
  let pending = new Map<string, PendingRead[]>();

  async function answer(): Promise<void> {
    const all = pending;
    pending = new Map();
    try {
      const rows = await rowsOf([...all.keys()]);
      const byThread = new Map(rows.map((row) => [row.context_key, row]));
      for (const [thread, waiting] of all) {
        const row = byThread.get(thread);
        const state = row === undefined ? null : await stateOf(row);
        for (const { resolve } of waiting) resolve(state);
      }
    } catch (error) {
      for (const waiting of all.values()) for (const { reject } of waiting) reject(error);
    }
  }

  function rowsOf(threads: readonly string[]) {
    return db
      .selectFrom("conversations")
      .innerJoin("contacts", "contacts.id", "conversations.contact_id")
      .select([
        "conversations.id",
        "conversations.context_key",
        "conversations.last_seq",
        "conversations.status",
        "conversations.assigned_to",
        "conversations.customer_name",
        "conversations.customer_email",
        "contacts.user_id",
      ])
      .where("conversations.account_id", "=", account.id)
      .where("conversations.context_key", "in", threads)
      .execute();
  }

  async function stateOf(row: Awaited<ReturnType<typeof rowsOf>>[number]): Promise<ThreadState> {
    const claimed = row.status === "claimed";
    const isOver = row.status === "resolved" || row.status === "archived";
    return {
      conversationId: row.id,
      lastSeq: row.last_seq,
      userId: row.user_id,
      handledBy: claimed ? "agent" : row.status === "escalated" ? "waiting" : isOver ? "resolved" : "assistant",
      agentName: claimed && row.assigned_to !== null ? await agentName(db, account.workspaceId, row.assigned_to) : null,
      hasName: row.customer_name !== null,
      hasEmail: row.customer_email !== null,
    };
  }

  return (thread) =>
    new Promise((resolve, reject) => {
      const waiting = pending.get(thread);
      if (waiting !== undefined) {
        waiting.push({ resolve, reject });
        return;
      }
      if (pending.size === 0) queueMicrotask(() => void answer());
      pending.set(thread, [{ resolve, reject }]);
    });
}
