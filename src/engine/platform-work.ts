import { standingChannels, standingOf } from "#domain/lifecycle.ts";
import type { ConversationRow } from "#store/conversations.ts";
import type { NewWork } from "#store/outbox.ts";

/** How a conversation stands for the people of its platform. A snooze is another one when its end is. */
export type PlatformStanding =
  | { readonly kind: "open" | "closed" }
  | { readonly kind: "snoozed"; readonly until: number | null };

const textOf = (standing: PlatformStanding): string =>
  standing.kind === "snoozed" ? `snoozed ${standing.until ?? ""}` : standing.kind;

export function standingOfRow({ status, snoozed_until: until }: ConversationRow): PlatformStanding {
  const kind = standingOf(status);
  return kind === "snoozed" ? { kind, until } : { kind };
}

/** A conversation as a transaction leaves it. */
export interface PlatformSubject {
  readonly row: ConversationRow;
  /** How it stands on its platform by now. */
  readonly there: PlatformStanding;
  /** Ids of notes that the platform's people should see. */
  readonly notesThere: readonly string[];
}

/**
 * The work of telling the platform what has changed here. In the lane of the messages: after what is said before it, and
 * before what is said later.
 */
export function worksThere({ row, there, notesThere }: PlatformSubject, lane: string, now: number): readonly NewWork[] {
  if (!standingChannels.has(row.channel)) return [];
  const works: NewWork[] = notesThere.map((noteId) => ({
    lane,
    kind: "note-there",
    payload: { conversationId: row.id, noteId },
    dueAt: now,
  }));
  if (textOf(standingOfRow(row)) !== textOf(there)) {
    works.push({ lane, kind: "stand-there", payload: { conversationId: row.id }, dueAt: now });
  }
  return works;
}
