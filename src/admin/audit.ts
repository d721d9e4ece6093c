import { newId } from "#domain/ids.ts";
import type { AuditAction } from "#domain/conversation/message.ts";
import type { Tx } from "#database/contract.ts";

/** Enters what an operator, or the configuration file, did to a workspace, or to conversations of it. */
export async function noteAction(
  tx: Tx,
  given: {
    readonly workspaceId: string;
    /** Null: of the workspace itself. An entry each. */
    readonly conversationIds?: readonly (string | null)[];
    readonly action: AuditAction;
    /** Which part of the program did it. */
    readonly by: string;
    readonly detail: string;
    readonly now: number;
  },
): Promise<void> {
  const { workspaceId, conversationIds = [null], action, by, detail, now } = given;
  await tx
    .insertInto("audit")
    .values(
      conversationIds.map((id) => ({
        id: newId("aud", now),
        workspace_id: workspaceId,
        conversation_id: id,
        action,
        actor_type: "system",
        actor_id: by,
        actor_name: null,
        from_value: null,
        to_value: null,
        detail,
        created_at: now,
      })),
    )
    .execute();
}
