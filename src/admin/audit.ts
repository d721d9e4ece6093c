import { newId } from "#domain/ids.ts";
import type { Actor, AuditAction } from "#domain/conversation/message.ts";
import { systemActor } from "#domain/conversation/message.ts";
import type { AdminAction } from "#domain/workspace/admin-action.ts";
import type { Tx } from "#database/contract.ts";

/** Adds an audit entry for a change by an operator or the configuration file. */
export async function noteAction(
  tx: Tx,
  given: {
    readonly workspaceId: string;
    /** One entry each; null: an entry of the workspace. */
    readonly conversationIds?: readonly (string | null)[];
    readonly action: AuditAction;
    /** The part of the program that made the change. */
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

/** The author of changes on the command line. */
export const operatorActor = systemActor("operator");

/** The author of changes at the start of the server. */
export const fileActor = systemActor("configuration file");

/** A change by an administrator, in the audit log of the workspace. */
export interface AdminChange {
  readonly workspaceId: string;
  readonly by: Actor;
  readonly action: AdminAction | "secret_rotated";
  /** The name of the thing that changed, for people. Never a secret. */
  readonly subject: string;
  /** Values before and after, for people. Never secrets. */
  readonly from?: string | null;
  readonly to?: string | null;
  readonly now: number;
}

/** Adds the entry of a change to the audit log, in the transaction of the change. */
export async function recordChange(tx: Tx, change: AdminChange): Promise<void> {
  const { workspaceId, by, action, subject, from = null, to = null, now } = change;
  await tx
    .insertInto("audit")
    .values({
      id: newId("aud", now),
      workspace_id: workspaceId,
      conversation_id: null,
      action,
      actor_type: by.type,
      actor_id: by.id,
      actor_name: by.name,
      from_value: from,
      to_value: to,
      detail: subject,
      created_at: now,
    })
    .execute();
}
