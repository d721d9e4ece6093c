import { newId } from "#domain/ids.ts";
import type { Actor } from "#domain/conversation/message.ts";
import type { Tx } from "#database/contract.ts";
import type { NewNote, Note } from "./note.ts";
import type { Draft } from "./draft.ts";

/**
 * Adds a note of an agent, an API client, a rule or the program itself. Returns the existing note if the client repeats its
 * request.
 */
export async function insertNote(tx: Tx, draft: Draft, note: NewNote, actor: Actor, now: number): Promise<Note> {
  const before = note.clientId === undefined ? undefined : await storedNote(tx, draft.row.id, note.clientId);
  if (before !== undefined) return before;
  const author = note.authorEmail ?? authorOf(actor);
  const id = note.clientId === undefined ? newId("note", now) : noteIdOf(note.clientId);
  await tx
    .insertInto("notes")
    .values({ id, conversation_id: draft.row.id, content: note.content, author, created_at: now })
    .execute();
  draft.audit("note_added", actor, { detail: id });
  draft.syncDesk({ kind: "note", id });
  if (note.hereOnly !== true) draft.pushNote(id);
  const added = { id, conversationId: draft.row.id, content: note.content, author, createdAt: now };
  draft.emit("note.created", actor, { note: added });
  return added;
}

const noteIdOf = (clientId: string): string => clientId.replace(/^req_/, "note_");

export async function storedNote(tx: Tx, conversationId: string, clientId: string): Promise<Note | undefined> {
  const row = await tx
    .selectFrom("notes")
    .selectAll()
    .where("id", "=", noteIdOf(clientId))
    .where("conversation_id", "=", conversationId)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const { id, content, author, created_at } = row;
  return { id, conversationId, content, author, createdAt: created_at };
}

function authorOf(actor: Actor): string {
  if (actor.type === "api_key") return `api_key:${actor.name ?? actor.id ?? ""}`.slice(0, 190);
  return actor.id ?? actor.type;
}
