import type { InboundEvent, InboundFile } from "#channels/contract.ts";
import { filesPerMessage } from "#domain/files.ts";
import { groupsOf } from "#conversations/attachments/attachments.ts";
import type { StoredAside } from "./inbound-row.ts";
import type { TextChange } from "#channels/inbound-event.ts";
import type { Tx } from "#database/contract.ts";

/** One message made of several events, such as an album in which each picture can have its own caption. */
export interface Album {
  readonly conversationId: string;
  readonly messageId: string;
  /** Text by the platform's id of the part, in order of arrival. */
  readonly texts: Map<string, string>;
  /** The platform's file keys by part; null if some of a part's keys are unknown. */
  readonly files: Map<string, Set<string> | null>;
}

type AlbumMessage = Pick<Album, "conversationId" | "messageId">;

export interface Albums {
  /** Registers a message that later parts may join. */
  begin(message: AlbumMessage, externalId: string, text: string, files: readonly InboundFile[]): void;
  of(conversationId: string, messageId: string): Promise<Album>;
  /** Finds the album with this part among those already loaded in this transaction. Does not query. */
  loaded(conversationId: string, externalId: string): Album | undefined;
  /** Finds the album that this part joined, in this transaction or earlier. */
  joinedBy(accountId: string, conversationId: string, externalId: string): Promise<Album | undefined>;
}

export const textOf = ({ texts }: Album): string => [...texts.values()].filter((text) => text.trim() !== "").join("\n");

/** Returns the files an edit added to its part: none if the earlier files are unknown or the message is full. */
export function newFiles(album: Album, event: TextChange, had: number): readonly InboundFile[] {
  if (event.kind === "delete" || had >= filesPerMessage) return [];
  const known = album.files.get(event.messageExternalId) ?? undefined;
  const fresh = (event.files ?? []).filter(({ key }) => key !== undefined && known?.has(key) === false);
  for (const { key } of fresh) if (key !== undefined) known?.add(key);
  return fresh;
}

/** Turns the edit of one part into an edit of the whole message's text. */
export function withAlbumText(album: Album | undefined, event: TextChange): TextChange {
  if (album === undefined || event.kind === "delete") return event;
  album.texts.set(event.messageExternalId, event.text);
  return { ...event, text: textOf(album) };
}

/** `isBegin`: the event is the part itself. An edit alone does not reveal the files that the part had before. */
export function recordFiles({ files }: Album, part: string, brought: readonly InboundFile[], isBegin: boolean): void {
  const known = isBegin ? new Set<string>() : files.get(part);
  for (const { key } of brought) if (key !== undefined) known?.add(key);
  files.set(part, known === undefined || brought.some(({ key }) => key === undefined) ? null : known);
}

/** Keeps loaded albums in memory with their changes, because a transaction stores its own events last. */
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
    const album: Album = { conversationId, messageId, texts: new Map(), files: new Map() };
    // An edit may be stored before the part it changes.
    for (const { payload } of rows.toSorted((a, b) => Number(a.kind === "edit") - Number(b.kind === "edit"))) {
      // Retention removes the text of old events.
      const event = JSON.parse(payload) as Partial<Extract<InboundEvent, { kind: "message" | "edit" }>>;
      const part = event.messageExternalId ?? event.externalId;
      if (part === undefined || event.text === undefined) continue;
      album.texts.set(part, event.text);
      recordFiles(album, part, event.files ?? [], event.kind === "message");
    }
    known.set(messageId, album);
    return album;
  }

  const loaded = (conversationId: string, externalId: string): Album | undefined =>
    [...known.values()].find((album) => album.conversationId === conversationId && album.texts.has(externalId));

  return {
    begin({ conversationId, messageId }, externalId, text, files) {
      const album: Album = { conversationId, messageId, texts: new Map([[externalId, text]]), files: new Map() };
      recordFiles(album, externalId, files, true);
      known.set(messageId, album);
    },
    of,
    loaded,
    async joinedBy(accountId, conversationId, externalId) {
      const found = loaded(conversationId, externalId);
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
      // The part's files were stored aside until a message of the group claimed them.
      const { asideOf: group } = JSON.parse(row.payload) as StoredAside;
      const taken = group === undefined ? undefined : [...(await groupsOf(tx, [{ accountId, group }])).values()][0];
      return taken?.conversationId === conversationId ? of(conversationId, taken.messageId) : undefined;
    },
  };
}
