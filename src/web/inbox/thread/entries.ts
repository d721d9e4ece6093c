import type { AuditView, ConversationView, MessagePage, MessageView, NoteView } from "#http/inbox/wire.ts";
import { sameDay } from "#web/shared/ui/time.ts";
import { beginning } from "./audit-text.ts";

/** A message, a note, or changes of the conversation. */
export type Entry =
  | { readonly kind: "message"; readonly key: string; readonly at: number; readonly message: MessageView }
  | { readonly kind: "note"; readonly key: string; readonly at: number; readonly note: NoteView }
  | { readonly kind: "audit"; readonly key: string; readonly at: number; readonly events: readonly AuditView[] };

/** Messages this close together, of the same author, are one group. */
const groupMs = 5 * 60_000;
/** Changes this close together, by the same person, are one entry. */
const auditGroupMs = 60_000;

/** The shown messages, and the notes and changes of their time. */
export function entriesOf(
  { audit, notes }: ConversationView,
  { messages, hasEarlier, hasLater }: MessagePage,
): Entry[] {
  const from = hasEarlier ? (messages[0]?.createdAt ?? 0) : 0;
  const to = hasLater ? (messages.at(-1)?.createdAt ?? 0) : Infinity;
  const entries: Entry[] = [
    ...audit.map((event) => ({ kind: "audit", key: event.id, at: event.createdAt, events: [event] }) as const),
    ...messages.map((message) => ({ kind: "message", key: message.id, at: message.createdAt, message }) as const),
    ...notes.map((note) => ({ kind: "note", key: note.id, at: note.createdAt, note }) as const),
  ];
  const shown = entries.filter(({ at }) => at >= from && at <= to);
  return joinAudit(shown.toSorted((a, b) => a.at - b.at || rank(a) - rank(b)));
}

/** The order at one moment: a question, its consequences, and then the answers. */
function rank(entry: Entry): number {
  switch (entry.kind) {
    case "audit":
      return entry.events.some(beginning) ? 0 : 2;
    case "message":
      return entry.message.role === "user" ? 1 : 3;
    case "note":
      return 4;
  }
}

function joinAudit(entries: readonly Entry[]): Entry[] {
  const joined: Entry[] = [];
  for (const entry of entries) {
    const last = joined.at(-1);
    const isJoined =
      entry.kind === "audit" &&
      last?.kind === "audit" &&
      entry.at - last.at <= auditGroupMs &&
      sameActor(last.events[0], entry.events[0]);
    if (isJoined) joined[joined.length - 1] = { ...last, events: [...last.events, ...entry.events] };
    else joined.push(entry);
  }
  return joined;
}

const sameActor = (one: AuditView | undefined, other: AuditView | undefined): boolean =>
  one?.actor === other?.actor && one?.automatic === other?.automatic;

/** Both are messages of the same author, and close together. */
export function isGroup(one: Entry | undefined, next: Entry | undefined): boolean {
  if (one?.kind !== "message" || next?.kind !== "message") return false;
  return (
    one.message.role === next.message.role &&
    one.message.author === next.message.author &&
    next.at - one.at < groupMs &&
    sameDay(one.at, next.at)
  );
}
