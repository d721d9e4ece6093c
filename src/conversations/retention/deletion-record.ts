import type { Tx } from "#database/contract.ts";
import type { Actor } from "#domain/conversation/message.ts";
import { newId } from "#domain/ids.ts";

/** Adds the audit entry of a deletion in the workspace. `what`: without personal data, because the entry stays. */
export async function recordDeletion(
  tx: Tx,
  workspaceId: string,
  actor: Actor,
  what: string,
  deletedAt: number,
  now: number,
): Promise<void> {
  await tx
    .insertInto("audit")
    .values({
      id: newId("aud", now),
      workspace_id: workspaceId,
      conversation_id: null,
      action: "deleted",
      actor_type: actor.type,
      actor_id: actor.id,
      actor_name: actor.name,
      from_value: null,
      to_value: null,
      detail: what,
      created_at: deletedAt,
    })
    .execute();
}
