import type { Handover } from "#channels/contract.ts";
import { Type } from "typebox";
import { workKind } from "#database/work.ts";
import type { PlatformStatus } from "#channels/inbound-event.ts";
import { publicStatusOf } from "#domain/conversation/status.ts";
import { hasTrait } from "#channels/catalog.ts";
import type { Actor } from "#domain/conversation/message.ts";
import type { ConversationRow } from "#database/queries/conversations.ts";
import type { NewWork } from "#database/queries/outbox.ts";
import { sendLane } from "#queue/lanes.ts";

/** The status of the conversation on its platform. */
export const pushStatusKind = workKind("stand-there", Type.Object({ conversationId: Type.String() }));

/** The handover to agents on the platform. */
export const pushHandoverKind = workKind(
  "handover-there",
  Type.Object({ conversationId: Type.String(), handedOver: Type.Unsafe<Handover>(Type.Object({})) }),
  // The conversation may have been answered or resolved since.
  { canRetry: () => false },
);

/** A note for agents on the platform. */
export const pushNoteKind = workKind(
  "note-there",
  Type.Object({ conversationId: Type.String(), noteId: Type.String() }),
);

/** Two snoozes are equal only if they end at the same time. */
const statusText = (status: PlatformStatus): string =>
  status.kind === "snoozed" ? `snoozed ${status.until ?? ""}` : status.kind;

export function platformStatusOf({ status, snoozed_until: until }: ConversationRow): PlatformStatus {
  const kind = publicStatusOf(status);
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
  if (!hasTrait(row.channel, "platform-status")) return [];
  const lane = sendLane(row.id);
  const works: NewWork[] = platformNotes.map((noteId) =>
    pushNoteKind.queued(lane, { conversationId: row.id, noteId }, now),
  );
  if (handedOver !== undefined && row.status === "escalated") {
    works.push(pushHandoverKind.queued(lane, { conversationId: row.id, handedOver }, now));
  }
  if (statusText(platformStatusOf(row)) !== statusText(platformStatus)) {
    works.push(pushStatusKind.queued(lane, { conversationId: row.id }, now));
  }
  return works;
}
