import Type from "typebox";
import type { Static, TSchema } from "typebox";
import { Value } from "typebox/value";

// The payloads of Intercom, as far as they are used. Intercom omits unknown fields or sends null, and sends some ids as
// numbers, so the schemas require little.

const maybe = <T extends TSchema>(schema: T) => Type.Optional(Type.Union([schema, Type.Null()]));

/** The id of a conversation, a part or a person. */
const id = Type.Union([Type.String({ pattern: "^[A-Za-z0-9_-]{1,100}$" }), Type.Integer({ minimum: 0 })]);
/** Epoch seconds. */
const time = Type.Number({ minimum: 0, maximum: 100_000_000_000 });

const author = Type.Object({ type: Type.String(), id, name: maybe(Type.String()), email: maybe(Type.String()) });

const attachment = Type.Object({
  name: maybe(Type.String()),
  url: Type.String(),
  content_type: maybe(Type.String()),
  filesize: maybe(Type.Number()),
});

const part = Type.Object({
  id,
  part_type: Type.String(),
  body: maybe(Type.String()),
  created_at: time,
  author,
  assigned_to: maybe(Type.Object({ type: Type.String(), id: maybe(id) })),
  attachments: maybe(Type.Array(attachment)),
  redacted: maybe(Type.Boolean()),
  email_message_metadata: maybe(Type.Unknown()),
});

const source = Type.Object({
  type: maybe(Type.String()),
  id: maybe(id),
  delivered_as: maybe(Type.String()),
  subject: maybe(Type.String()),
  body: maybe(Type.String()),
  author,
  attachments: maybe(Type.Array(attachment)),
  redacted: maybe(Type.Boolean()),
});

const conversation = Type.Object({
  id,
  created_at: time,
  updated_at: time,
  state: maybe(Type.String()),
  open: maybe(Type.Boolean()),
  snoozed_until: maybe(time),
  admin_assignee_id: maybe(id),
  team_assignee_id: maybe(id),
  source: maybe(Type.Unknown()),
  contacts: maybe(Type.Object({ contacts: maybe(Type.Array(Type.Object({ id, external_id: maybe(Type.String()) }))) })),
  teammates: maybe(Type.Object({ teammates: maybe(Type.Array(Type.Object({ id: maybe(id) }))) })),
  conversation_parts: maybe(Type.Object({ conversation_parts: maybe(Type.Array(Type.Unknown())) })),
});

const notification = Type.Object({
  type: Type.Literal("notification_event"),
  id: maybe(Type.String()),
  topic: Type.String(),
  app_id: maybe(Type.String()),
  created_at: maybe(time),
  data: Type.Object({ item: Type.Unknown() }),
});

const listed = Type.Object({ id, updated_at: time });
const deleted = Type.Object({ id: Type.Optional(id), conversation_id: Type.Optional(id) });

/** Replaces the id of a conversation's first message, which is of another kind than the ids of parts. */
export const sourceId = "source";

export type Author = Static<typeof author>;
export type Attachment = Static<typeof attachment>;
export type ConversationPart = Static<typeof part>;
export type Source = Static<typeof source>;
export type Notification = Static<typeof notification>;

export interface Conversation extends Static<typeof conversation> {
  /** The first message; undefined: missing or unreadable. */
  readonly began: Source | undefined;
  /** Oldest first. */
  readonly parts: readonly ConversationPart[];
  /** The number of parts that this version cannot read. */
  readonly unreadable: number;
}

/** null: not a notification. */
export function readNotification(body: Buffer): Notification | null {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body.toString("utf8"));
  } catch {
    return null;
  }
  return Value.Check(notification, parsed) ? parsed : null;
}

/** null: not a conversation that this version can read. */
export function readConversation(item: unknown): Conversation | null {
  if (!Value.Check(conversation, item)) return null;
  const all = item.conversation_parts?.conversation_parts ?? [];
  const parts = all.filter((each) => Value.Check(part, each)).toSorted(byAge);
  return {
    ...item,
    began: Value.Check(source, item.source) ? item.source : undefined,
    parts,
    unreadable: all.length - parts.length,
  };
}

/** The id of a deleted conversation; null: unreadable. */
export function readDeleted(item: unknown): string | null {
  if (!Value.Check(deleted, item)) return null;
  const found = item.conversation_id ?? item.id;
  return found === undefined ? null : String(found);
}

export const readListed = (item: unknown): { readonly id: string; readonly updatedAt: number } | null =>
  Value.Check(listed, item) ? { id: String(item.id), updatedAt: item.updated_at } : null;

function byAge(a: ConversationPart, b: ConversationPart): number {
  return orderOf(a) < orderOf(b) ? -1 : 1;
}

/** Sorts parts as text. The id decides within a second, since Intercom's times are whole seconds. */
export function orderOf({ created_at: createdAt, id: partId }: Pick<ConversationPart, "created_at" | "id">): string {
  return `${String(Math.floor(createdAt)).padStart(12, "0")}.${String(partId).padStart(24, "0").slice(0, 60)}`;
}
