import type { InboundEvent } from "#channels/contract.ts";
import type { InboundEventsTable } from "#database/schema/tables.ts";
import { groupKey } from "#conversations/attachments/attachments.ts";
import type { IncomingEvent, IngestResult } from "#conversations/transaction/incoming-event.ts";
import { messageIdOf } from "./incoming-event.ts";

/** Returns the row that recognises the event when the platform delivers it again. */
export function inboundRow(
  { account, event }: IncomingEvent,
  result: IngestResult,
  /** The event joins a message that another event began. */
  joins: boolean,
  now: number,
): Omit<InboundEventsTable, "id"> {
  const isContentDropped = result.isObsolete === true || (result.messageId === null && needsMessage(event));
  return {
    account_id: account.id,
    external_id: event.externalId,
    kind: event.kind,
    // A file's reference is a secret, kept encrypted with the attachment only. An event that belongs to no message keeps
    // no content.
    payload: JSON.stringify(isContentDropped ? withoutContent(event) : withoutRefs(event)),
    target_external_id: isContentDropped ? storedAsideIdOf(event) : targetIdOf(event, joins),
    conversation_id: result.conversationId,
    message_id: result.messageId,
    received_at: now,
  };
}

const needsMessage = (event: InboundEvent): boolean =>
  (event.kind === "edit" && event.knownOnly === true) || (event.kind === "message" && event.group?.joinsOnly === true);

/** Lets an edit of a part whose files were stored aside find the message that later claimed them. */
const storedAsideIdOf = (event: InboundEvent): string | null => (event.kind === "message" ? messageIdOf(event) : null);

/** The stored payload of an event that belongs to no message. */
export interface StoredAside {
  /** {@link groupKey} of the part's group. */
  readonly asideOf?: string;
}

/** Keeps only the event's identity and sender, so that an erasure of the customer finds the row. */
function withoutContent(event: InboundEvent) {
  if (event.kind !== "message" && event.kind !== "edit") return withoutRefs(event);
  const {
    kind,
    externalId,
    thread,
    sender: { key },
    sentAt,
  } = event;
  const aside: StoredAside =
    event.kind === "message" && event.group !== undefined ? { asideOf: groupKey(thread, event.group.key) } : {};
  return { kind, externalId, thread, sender: { key }, sentAt, ...aside };
}

function targetIdOf(event: InboundEvent, joins: boolean): string | null {
  if (event.kind === "edit" || event.kind === "delete") return event.messageExternalId;
  return event.kind === "message" && joins ? messageIdOf(event) : null;
}

function withoutRefs(event: InboundEvent): InboundEvent {
  if (event.kind !== "message" && event.kind !== "agent" && event.kind !== "edit") return event;
  if (event.files === undefined) return event;
  return { ...event, files: event.files.map((file) => ({ ...file, ref: "" })) };
}
