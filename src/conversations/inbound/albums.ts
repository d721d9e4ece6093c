import type { InboundEvent, InboundFile } from "#channels/contract.ts";
import { filesPerMessage } from "#domain/files.ts";
import type { StoredAside } from "./incoming-event.ts";
import { groupsOf } from "#conversations/attachments/attachments.ts";
import type { TextChange } from "./incoming-event.ts";
import type { Tx } from "#database/contract.ts";

/** A message that several events are, and what each of them says: an album has words below any of its pictures. */
export interface Album {
  readonly conversationId: string;
  readonly messageId: string;
  /** By the platform's id of the part, in the order in which they came. */
  readonly words: Map<string, string>;
  /** What each part has brought, by the platform's keys; null: not all of it is known. */
  readonly files: Map<string, Set<string> | null>;
}

type AlbumMessage = Pick<Album, "conversationId" | "messageId">;

export interface Albums {
  /** A message that others may join. */
  begin(message: AlbumMessage, externalId: string, text: string, files: readonly InboundFile[]): void;
  of(conversationId: string, messageId: string): Promise<Album>;
  /** Of those that came in this transaction or were asked for, the one with this part. */
  here(conversationId: string, externalId: string): Album | undefined;
  /** The one that this part has joined, here or before. */
  joinedBy(accountId: string, conversationId: string, externalId: string): Promise<Album | undefined>;
}

export const wordsOf = ({ words }: Album): string =>
  [...words.values()].filter((text) => text.trim() !== "").join("\n");

/** The files of a changed part that it did not have before: none where that is not known, or the message is full. */
export function newFiles(album: Album, event: TextChange, had: number): readonly InboundFile[] {
  if (event.kind === "delete" || had >= filesPerMessage) return [];
  const known = album.files.get(event.messageExternalId) ?? undefined;
  const fresh = (event.files ?? []).filter(({ key }) => key !== undefined && known?.has(key) === false);
  for (const { key } of fresh) if (key !== undefined) known?.add(key);
  return fresh;
}

/** The change of a part as one of the whole message. */
export function withWords(album: Album | undefined, event: TextChange): TextChange {
  if (album === undefined || event.kind === "delete") return event;
  album.words.set(event.messageExternalId, event.text);
  return { ...event, text: wordsOf(album) };
}

/** `isBegin`: with the part itself. A change alone does not tell what was there before it. */
export function noteFiles({ files }: Album, part: string, brought: readonly InboundFile[], isBegin: boolean): void {
  const known = isBegin ? new Set<string>() : files.get(part);
  for (const { key } of brought) if (key !== undefined) known?.add(key);
  files.set(part, known === undefined || brought.some(({ key }) => key === undefined) ? null : known);
}

/** What is read is remembered, with what is changed in it: a transaction stores its own events last. */
export function createAlbums(tx: Tx): Albums {
  const known = new Map<string, Album>();

  async function of(conversationId: string, messageId: string): Promise<Album> {
    const before = known.get(messageId);
    if (before !== undefined) return before;
    const rows = await tx
      .selectFrom("inbound_events")
      .select(["kind", "payload"])
      .where("conversation_id", "=", conversationId)
      .where("message_id", "=", messageId)
      .where("kind", "in", ["message", "edit"])
      .orderBy("id")
      .execute();
    const album: Album = { conversationId, messageId, words: new Map(), files: new Map() };
    // A change may have come before what it changes.
    for (const { payload } of rows.toSorted((a, b) => Number(a.kind === "edit") - Number(b.kind === "edit"))) {
      // The text of events that are long past is gone.
      const event = JSON.parse(payload) as Partial<Extract<InboundEvent, { kind: "message" | "edit" }>>;
      const part = event.messageExternalId ?? event.externalId;
      if (part === undefined || event.text === undefined) continue;
      album.words.set(part, event.text);
      noteFiles(album, part, event.files ?? [], event.kind === "message");
    }
    known.set(messageId, album);
    return album;
  }

  const here = (conversationId: string, externalId: string): Album | undefined =>
    [...known.values()].find((album) => album.conversationId === conversationId && album.words.has(externalId));

  return {
    begin({ conversationId, messageId }, externalId, text, files) {
      const album: Album = { conversationId, messageId, words: new Map([[externalId, text]]), files: new Map() };
      noteFiles(album, externalId, files, true);
      known.set(messageId, album);
    },
    of,
    here,
    async joinedBy(accountId, conversationId, externalId) {
      const found = here(conversationId, externalId);
      if (found !== undefined) return found;
      const row = await tx
        .selectFrom("inbound_events")
        .select(["conversation_id", "message_id", "payload"])
        .where("account_id", "=", accountId)
        .where("target_external_id", "=", externalId)
        .where("kind", "=", "message")
        .executeTakeFirst();
      if (row === undefined) return undefined;
      if (row.message_id !== null) {
        return row.conversation_id === conversationId ? of(conversationId, row.message_id) : undefined;
      }
      // Its files were kept aside until a message took them.
      const { asideOf: group } = JSON.parse(row.payload) as StoredAside;
      const taken = group === undefined ? undefined : [...(await groupsOf(tx, [{ accountId, group }])).values()][0];
      return taken?.conversationId === conversationId ? of(conversationId, taken.messageId) : undefined;
    },
  };
}
