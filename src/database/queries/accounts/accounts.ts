import { channelsWith } from "#channels/catalog.ts";
import { newId } from "#domain/ids.ts";
import type { Tx } from "#database/contract.ts";

/** The accounts that every workspace has from its creation. */
export async function addBuiltinAccounts(tx: Tx, workspaceId: string, now: number): Promise<void> {
  await tx
    .insertInto("accounts")
    .values(
      channelsWith("builtin").map((channel) => ({
        id: newId("acc", now),
        workspace_id: workspaceId,
        channel,
        name: channel,
        config: "{}",
        credentials: null,
        managed_by: "builtin" as const,
        enabled: 1 as const,
        created_at: now,
      })),
    )
    .execute();
}
