import type { Reader, Tx } from "#database/contract.ts";
import type { SkippedMessagesTable } from "#database/schema/tables.ts";

export type SkippedMessageRow = SkippedMessagesTable & { readonly channel: string; readonly account: string };

/** Does nothing for a message that is stored already. */
export async function storeSkipped(
  tx: Tx,
  accountId: string,
  message: {
    readonly externalId: string;
    readonly receivedAt: number;
    readonly sender: string | null;
    readonly title: string;
    readonly reason: string;
  },
): Promise<void> {
  const known = await tx
    .selectFrom("skipped_messages")
    .select("external_id")
    .where("account_id", "=", accountId)
    .where("external_id", "=", message.externalId)
    .executeTakeFirst();
  if (known !== undefined) return;
  await tx
    .insertInto("skipped_messages")
    .values({
      account_id: accountId,
      external_id: message.externalId,
      received_at: message.receivedAt,
      sender: message.sender?.toLowerCase().slice(0, 190) ?? null,
      title: message.title.slice(0, 500).toWellFormed(),
      reason: message.reason.slice(0, 500).toWellFormed(),
    })
    .execute();
}

/** The newest skipped messages of the workspace. */
export function skippedMessages(db: Reader, workspaceId: string, limit: number): Promise<readonly SkippedMessageRow[]> {
  return db
    .selectFrom("skipped_messages")
    .innerJoin("accounts", "accounts.id", "skipped_messages.account_id")
    .selectAll("skipped_messages")
    .select(["accounts.channel as channel", "accounts.name as account"])
    .where("accounts.workspace_id", "=", workspaceId)
    .orderBy("skipped_messages.received_at", "desc")
    .orderBy("skipped_messages.external_id")
    .limit(limit)
    .execute();
}

/** How many there are, at most `max`. */
export async function countSkipped(db: Reader, workspaceId: string, max: number): Promise<number> {
  const { value } = await db
    .selectFrom((eb) =>
      eb
        .selectFrom("skipped_messages")
        .innerJoin("accounts", "accounts.id", "skipped_messages.account_id")
        .select("skipped_messages.external_id")
        .where("accounts.workspace_id", "=", workspaceId)
        .limit(max)
        .as("some"),
    )
    .select((eb) => eb.fn.countAll().as("value"))
    .executeTakeFirstOrThrow();
  return Number(value);
}

/** Deletes what names this customer as the sender. */
export async function deleteSkippedOf(tx: Tx, workspaceId: string, email: string): Promise<void> {
  await tx
    .deleteFrom("skipped_messages")
    .where("sender", "=", email.toLowerCase())
    .where("account_id", "in", (eb) =>
      eb.selectFrom("accounts").select("accounts.id").where("accounts.workspace_id", "=", workspaceId),
    )
    .execute();
}
