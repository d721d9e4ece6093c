import type { Reader } from "../../contract.ts";
import type { Channel } from "#domain/conversation/message.ts";

/** The value in `account_state` that says of which installation an account is. */
export const installationName = "installation";

export interface StoredInstallation {
  /** The same for each installation of an app in a workspace of the platform. */
  readonly key: string;
  readonly name: string;
  readonly details: Readonly<Record<string, unknown>>;
}

/** Undefined for an account that no installation has connected. */
export async function installationOf(db: Reader, accountId: string): Promise<StoredInstallation | undefined> {
  const stored = await db
    .selectFrom("account_state")
    .select("value")
    .where("account_id", "=", accountId)
    .where("name", "=", installationName)
    .executeTakeFirst();
  return stored === undefined ? undefined : (JSON.parse(stored.value) as StoredInstallation);
}

/** The ids of the enabled accounts that installations have connected, by key. */
export async function installedAccounts(db: Reader, channel: Channel): Promise<ReadonlyMap<string, string>> {
  const rows = await db
    .selectFrom("accounts")
    .innerJoin("account_state", "account_state.account_id", "accounts.id")
    .select(["accounts.id", "account_state.value"])
    .where("account_state.name", "=", installationName)
    .where("accounts.channel", "=", channel)
    .where("accounts.enabled", "=", 1)
    .where("accounts.removed_at", "is", null)
    .execute();
  return new Map(rows.map(({ id, value }) => [(JSON.parse(value) as StoredInstallation).key, id]));
}
