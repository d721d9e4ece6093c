import type { Handover } from "#channels/contract.ts";
import type { PlatformStatus } from "#channels/inbound-event.ts";
import { standingChannels, standingOf } from "#domain/conversation/status.ts";
import type { Actor } from "#domain/conversation/message.ts";
import type { ConversationRow } from "#database/queries/conversations.ts";
import type { NewWork } from "#database/queries/outbox.ts";
import { sendLane } from "#queue/lanes.ts";

/** A snooze is another one when its end is. */
const statusText = (standing: PlatformStatus): string =>
  standing.kind === "snoozed" ? `snoozed ${standing.until ?? ""}` : standing.kind;

export function platformStatusOf({ status, snoozed_until: until }: ConversationRow): PlatformStatus {
  const kind = standingOf(status);
  return kind === "snoozed" ? { kind, until } : { kind };
}

/** Rules and the bot itself are one to whoever works on the platform. */
export function handoverOf({ type, id, name }: Actor, reason: string | undefined, now: number): Handover {
  return { reason: reason ?? null, by: type === "agent" || type === "api_key" ? (name ?? id) : null, at: now };
}

/** After what is said before it, and before what is said later: in the lane of the messages. */
export function platformWork(
  row: ConversationRow,
  {
    platformStatus,
    platformNotes,
    handedOver,
  }: {
    readonly platformStatus: PlatformStatus;
    readonly platformNotes: readonly string[];
    readonly handedOver: Handover | undefined;
  },
  now: number,
): readonly NewWork[] {
  if (!standingChannels.has(row.channel)) return [];
  const lane = sendLane(row.id);
  const works: NewWork[] = platformNotes.map((noteId) => ({
    lane,
    kind: "note-there",
    payload: { conversationId: row.id, noteId },
    dueAt: now,
  }));
  if (handedOver !== undefined && row.status === "escalated") {
    works.push({ lane, kind: "handover-there", payload: { conversationId: row.id, handedOver }, dueAt: now });
  }
  if (statusText(platformStatusOf(row)) !== statusText(platformStatus)) {
    works.push({ lane, kind: "stand-there", payload: { conversationId: row.id }, dueAt: now });
  }
  return works;
}
