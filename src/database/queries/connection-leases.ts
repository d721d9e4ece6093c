import type { Tx } from "#database/contract.ts";

export interface ConnectionLease {
  readonly holder: string;
  readonly until: number;
}

/**
 * Takes or renews the lease of an account's connection. False while another process holds it. Throws a duplicate-key error
 * when another process takes a free lease at the same time.
 */
export async function takeConnection(tx: Tx, accountId: string, lease: ConnectionLease, now: number): Promise<boolean> {
  const result = await tx
    .updateTable("connection_leases")
    .set({ holder: lease.holder, lease_until: lease.until })
    .where("account_id", "=", accountId)
    .where((eb) => eb.or([eb("holder", "=", lease.holder), eb("lease_until", "<=", now)]))
    .executeTakeFirst();
  if (Number(result.numUpdatedRows) > 0) return true;
  const held = await tx
    .selectFrom("connection_leases")
    .select("holder")
    .where("account_id", "=", accountId)
    .executeTakeFirst();
  if (held !== undefined) return false;
  await tx
    .insertInto("connection_leases")
    .values({ account_id: accountId, holder: lease.holder, lease_until: lease.until })
    .execute();
  return true;
}

export async function releaseConnection(tx: Tx, accountId: string, holder: string): Promise<void> {
  await tx.deleteFrom("connection_leases").where("account_id", "=", accountId).where("holder", "=", holder).execute();
}
