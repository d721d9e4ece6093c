import type { Handover } from "#channels/contract.ts";
import type { PlatformStatus } from "#channels/inbound-event.ts";
import { standingChannels, standingOf } from "#domain/conversation/status.ts";
import type { Actor } from "#domain/conversation/message.ts";
import type { ConversationRow } from "#database/queries/conversations.ts";
import type { NewWork } from "#database/queries/outbox.ts";
import { sendLane } from "#queue/lanes.ts";

/** Two snoozes are equal only if they end at the same time. */
const statusText = (standing: PlatformStatus): string =>
  standing.kind === "snoozed" ? `snoozed ${standing.until ?? ""}` : standing.kind;

export function platformStatusOf({ status, snoozed_until: until }: ConversationRow): PlatformStatus {
  const kind = standingOf(status);
  return kind === "snoozed" ? { kind, until } : { kind };
}

/** Names the agent or API key who handed over. `by` is null for rules and the bot. */
export function handoverOf({ type, id, name }: Actor, reason: string | undefined, now: number): Handover {
  return { reason: reason ?? null, by: type === "agent" || type === "api_key" ? (name ?? id) : null, at: now };
}

/** Uses the lane of the messages, so that status and notes keep their place between them. */
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
