import type { Channel } from "#domain/conversation/message.ts";
import type { Reader } from "#database/contract.ts";
import { channelsWith } from "#channels/catalog.ts";

export function accountRow(db: Reader, id: string) {
  return db.selectFrom("accounts").selectAll().where("id", "=", id).executeTakeFirst();
}

/** Returns the id of the enabled account of this name. */
export function namedAccount(db: Reader, workspaceId: string, name: string) {
  return db
    .selectFrom("accounts")
    .select("id")
    .where("workspace_id", "=", workspaceId)
    .where("name", "=", name)
    .where("enabled", "=", 1)
    .executeTakeFirst();
}

/** Returns some workspace's built-in account on the channel. */
export function anyBuiltinAccount(db: Reader, channel: Channel) {
  return db
    .selectFrom("accounts")
    .innerJoin("workspaces", "workspaces.id", "accounts.workspace_id")
    .select("accounts.id")
    .where("accounts.channel", "=", channel)
    .where("accounts.managed_by", "=", "builtin")
    .where("workspaces.deleted_at", "is", null)
    .limit(1)
    .executeTakeFirst();
}

/** Returns the enabled accounts on channels that take replies to visitors who have left, oldest first. */
export function followUpAccounts(db: Reader, workspaceId: string) {
  return db
    .selectFrom("accounts")
    .select("id")
    .where("workspace_id", "=", workspaceId)
    .where("channel", "in", channelsWith("follow-up"))
    .where("enabled", "=", 1)
    .orderBy("created_at")
    .orderBy("id")
    .execute();
}

/** Finds a workspace's built-in account on a channel. Caches ids, which never change. */
export function createBuiltinAccounts(
  db: Reader,
): (workspaceId: string, channel: Channel) => Promise<string | undefined> {
  const ids = new Map<string, string>();
  return async (workspaceId, channel) => {
    const key = `${workspaceId}\n${channel}`;
    const cached = ids.get(key);
    if (cached !== undefined) return cached;
    const row = await db
      .selectFrom("accounts")
      .select("id")
      .where("workspace_id", "=", workspaceId)
      .where("name", "=", channel)
      .where("managed_by", "=", "builtin")
      .executeTakeFirst();
    if (row !== undefined) ids.set(key, row.id);
    return row?.id;
  };
}
