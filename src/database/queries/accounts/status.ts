import type { Tx } from "#database/contract.ts";
import type { AccountStatusTable } from "#database/schema/tables.ts";

export type AccountStatusChange = Partial<Omit<AccountStatusTable, "account_id">>;

/** Stores how an account does. Throws a duplicate-key error if another process stores its first status at the same time. */
export async function storeAccountStatus(tx: Tx, accountId: string, change: AccountStatusChange): Promise<void> {
  const { numUpdatedRows } = await tx
    .updateTable("account_status")
    .set(change)
    .where("account_id", "=", accountId)
    .executeTakeFirstOrThrow();
  if (numUpdatedRows > 0n) return;
  // The account may have been deleted with its workspace.
  const account = await tx.selectFrom("accounts").select("id").where("id", "=", accountId).executeTakeFirst();
  if (account === undefined) return;
  const none = { revision: null, state: null, state_at: null, error: null, error_at: null, last_event_at: null };
  await tx
    .insertInto("account_status")
    .values({ account_id: accountId, ...none, ...change })
    .execute();
}
