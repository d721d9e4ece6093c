import type { AccountState } from "#channels/contract.ts";
import type { Store } from "#database/contract.ts";
import { dialectOf } from "#database/dialects/dialect.ts";
import { isDuplicate } from "#database/duplicate-key.ts";
import type { Clock } from "#runtime/clock.ts";
import type { Secrets } from "#runtime/secrets.ts";

/** The values that an adapter stores for its account, in the table `account_state`. */
export function createAccountState(
  store: Store,
  account: { readonly id: string },
  clock: Clock,
  secrets: Pick<Secrets, "seal" | "open">,
  isKept = true,
): AccountState {
  async function set(key: string, value: string): Promise<void> {
    const row = { account_id: account.id, name: key, value, updated_at: clock.now(), expires_at: null };
    await store.write(async (tx) => {
      const insert = tx.insertInto("account_state").values(row);
      // `expires_at` too: a value that compareAndSet stored expires no more.
      const { account_id: _account, name: _name, ...next } = row;
      await (
        dialectOf(tx) === "mysql"
          ? insert.onDuplicateKeyUpdate(next)
          : insert.onConflict((conflict) => conflict.columns(["account_id", "name"]).doUpdateSet(next))
      ).execute();
    });
  }

  async function compareAndSet(
    key: string,
    before: string | null,
    after: string,
    lifetimeMs: number | null,
  ): Promise<boolean> {
    const now = clock.now();
    const row = { value: after, updated_at: now, expires_at: lifetimeMs === null ? null : now + lifetimeMs };
    try {
      return await store.write(async (tx) => {
        if (before === null) {
          await tx
            .insertInto("account_state")
            .values({ account_id: account.id, name: key, ...row })
            .execute();
          return true;
        }
        const { numUpdatedRows } = await tx
          .updateTable("account_state")
          .set(row)
          .where("account_id", "=", account.id)
          .where("name", "=", key)
          .where("value", "=", before)
          .executeTakeFirstOrThrow();
        return numUpdatedRows > 0n;
      });
    } catch (error) {
      if (before === null && isDuplicate(error)) return false;
      throw error;
    }
  }

  async function get(key: string): Promise<string | null> {
    const row = await store.read
      .selectFrom("account_state")
      .select("value")
      .where("account_id", "=", account.id)
      .where("name", "=", key)
      .executeTakeFirst();
    return row?.value ?? null;
  }

  const secretKey = (key: string): string => `secret ${key}`;

  return {
    isKept,
    get,
    set,
    compareAndSet,
    async getSecret(key) {
      const sealed = await get(secretKey(key));
      return sealed === null ? null : secrets.open(sealed);
    },
    setSecret: (key, value) => set(secretKey(key), secrets.seal(value)),
  };
}
