import type { Channel } from "#domain/conversation/message.ts";
import { newId } from "#domain/ids.ts";
import type { Tx } from "#database/contract.ts";

const builtin = ["widget", "hosted", "api"] as const satisfies readonly Channel[];

/** The accounts that every workspace has from its beginning. */
export async function addBuiltinAccounts(tx: Tx, workspaceId: string, now: number): Promise<void> {
  await tx
    .insertInto("accounts")
    .values(
      builtin.map((channel) => ({
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
