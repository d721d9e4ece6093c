import { createHash } from "node:crypto";
import type { DeskEvent } from "#channels/desk/contract.ts";
import type { OutboxRow } from "#database/queries/outbox.ts";
import type { MessagesTable } from "#database/schema/tables.ts";
import type { DeskPostsTable } from "#database/schema/desk.ts";
import type { Reader } from "#database/contract.ts";
import type { DeskEventPayload } from "#agent-desk/desk-service.ts";

export type EditEvent = Extract<DeskEvent, { kind: "edited" | "removed" }>;

/** An edit or a removal of what somebody wrote, as it waits for the text itself. */
export interface PendingEdit {
  readonly kind: "edited" | "removed";
  readonly text: string | null;
  /** See {@link DeskEvent}; absent of a removal, and of what an older version has stored. */
  readonly revision?: number;
}

/** By which is known whether a reply still reads as it stands at the desk; of what was deleted there, nothing. */
export const saidMark = (text: string | null): string =>
  text === null ? "" : createHash("sha256").update(text).digest("hex").slice(0, 16);

/** Whether what somebody wrote at the desk is what the customer reads. */
export function readsSo({ parked }: DeskPostsTable, { content, deleted_at: deletedAt }: MessagesTable): boolean {
  const { said } = JSON.parse(parked ?? "{}") as { readonly said?: string };
  return said === undefined || said === saidMark(deletedAt === null ? content : null);
}

export const editOf = (given: EditEvent): PendingEdit =>
  given.kind === "removed"
    ? { kind: "removed", text: null }
    : { kind: "edited", text: given.text.trim(), revision: given.revision };

/** What was taken back stays so; else the newest edit counts. */
export function lastEdit(changes: readonly (PendingEdit | undefined)[]): PendingEdit | undefined {
  let last: PendingEdit | undefined;
  for (const change of changes) {
    if (change === undefined || last?.kind === "removed") continue;
    const isOlder = change.kind === "edited" && (change.revision ?? 0) < (last?.revision ?? 0);
    if (!isOlder) last = change;
  }
  return last;
}

/** Changes of a text that stand in line behind it: of what is not sent yet, the customer sees the last state alone. */
export async function pendingEditsOf(
  db: Reader,
  { id, lane }: Pick<OutboxRow, "id" | "lane">,
  messageId: string,
): Promise<readonly PendingEdit[]> {
  const rows = await db
    .selectFrom("outbox")
    .select("payload")
    .where("lane", "=", lane)
    .where("kind", "=", "desk-event")
    .where("id", ">", id)
    .where("dead_at", "is", null)
    .orderBy("id")
    .execute();
  return rows.flatMap(({ payload }) => {
    const { event } = JSON.parse(payload) as DeskEventPayload;
    const isChange = (event.kind === "edited" || event.kind === "removed") && event.messageId === messageId;
    return isChange ? [editOf(event)] : [];
  });
}
