import { createHash } from "node:crypto";
import type { DeskEvent } from "#channels/desk/contract.ts";
import type { OutboxRow } from "#database/queries/outbox.ts";
import type { MessagesTable } from "#database/schema/tables.ts";
import type { DeskPostsTable } from "#database/schema/desk.ts";
import type { Reader } from "#database/contract.ts";
import { deskEventKind } from "./event-work.ts";

export type EditEvent = Extract<DeskEvent, { kind: "edited" | "removed" }>;

/** An edit or a deletion that arrived before its text. */
export interface PendingEdit {
  readonly kind: "edited" | "removed";
  readonly text: string | null;
  /** See {@link DeskEvent}. Absent for deletions and rows of older versions. */
  readonly revision?: number;
}

/** Hash of a text at the desk, to find out whether the reply still has it. Empty for a deleted text. */
export const textMark = (text: string | null): string =>
  text === null ? "" : createHash("sha256").update(text).digest("hex").slice(0, 16);

/** True if the text at the desk equals the one that the customer sees. */
export function readsSo({ parked }: DeskPostsTable, { content, deleted_at: deletedAt }: MessagesTable): boolean {
  const { said } = JSON.parse(parked ?? "{}") as { readonly said?: string };
  return said === undefined || said === textMark(deletedAt === null ? content : null);
}

export const editOf = (given: EditEvent): PendingEdit =>
  given.kind === "removed"
    ? { kind: "removed", text: null }
    : { kind: "edited", text: given.text.trim(), revision: given.revision };

/** A deletion wins; otherwise the newest edit does. */
export function lastEdit(changes: readonly (PendingEdit | undefined)[]): PendingEdit | undefined {
  let last: PendingEdit | undefined;
  for (const change of changes) {
    if (change === undefined || last?.kind === "removed") continue;
    const isOlder = change.kind === "edited" && (change.revision ?? 0) < (last?.revision ?? 0);
    if (!isOlder) last = change;
  }
  return last;
}

/** Edits queued behind a text. The customer gets only the last state of a text that is not sent yet. */
export async function pendingEditsOf(
  db: Reader,
  { id, lane }: Pick<OutboxRow, "id" | "lane">,
  messageId: string,
): Promise<readonly PendingEdit[]> {
  const rows = await db
    .selectFrom("outbox")
    .select("payload")
    .where("lane", "=", lane)
    .where("kind", "=", deskEventKind.kind)
    .where("id", ">", id)
    .where("dead_at", "is", null)
    .orderBy("id")
    .execute();
  return rows.flatMap((row) => {
    const { event } = deskEventKind.read(row).payload;
    const isChange = (event.kind === "edited" || event.kind === "removed") && event.messageId === messageId;
    return isChange ? [editOf(event)] : [];
  });
}
