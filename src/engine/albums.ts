import type { InboundEvent } from "#channel/contract.ts";
import type { KeptAside } from "./arrivals.ts";
import { groupsOf } from "./attachments.ts";
import type { TextChange } from "./inbound-changes.ts";
import type { Tx } from "./ports.ts";

/** A message that several events are, and what each of them says: an album has words below any of its pictures. */
export interface Album {
  readonly conversationId: string;
  readonly messageId: string;
  /** By the platform's id of the part, in the order in which they came. */
  readonly words: Map<string, string>;
}

export interface Albums {
  /** A message that others may join. */
  begin(conversationId: string, messageId: string, externalId: string, text: string): void;
  of(conversationId: string, messageId: string): Promise<Album>;
  /** Of those that came in this transaction or were asked for, the one with this part. */
  here(conversationId: string, externalId: string): Album | undefined;
  /** The one that this part has joined, here or before. */
  joinedBy(accountId: string, conversationId: string, externalId: string): Promise<Album | undefined>;
}

export const wordsOf = ({ words }: Album): string =>
  [...words.values()].filter((text) => text.trim() !== "").join("\n");

/** The change of a part as one of the whole message. */
export function withWords(album: Album | undefined, event: TextChange): TextChange {
  if (album === undefined || event.kind === "delete") return event;
  album.words.set(event.messageExternalId, event.text);
  return { ...event, text: wordsOf(album) };
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
    const album: Album = { conversationId, messageId, words: new Map() };
    // A change may have come before what it changes.
    for (const { payload } of rows.toSorted((a, b) => Number(a.kind === "edit") - Number(b.kind === "edit"))) {
      // The text of events that are long past is gone.
      const event = JSON.parse(payload) as Partial<Extract<InboundEvent, { kind: "message" | "edit" }>>;
      const part = event.messageExternalId ?? event.externalId;
      if (part !== undefined && event.text !== undefined) album.words.set(part, event.text);
    }
    known.set(messageId, album);
    return album;
  }

  const here = (conversationId: string, externalId: string): Album | undefined =>
    [...known.values()].find((album) => album.conversationId === conversationId && album.words.has(externalId));

  return {
    begin(conversationId, messageId, externalId, text) {
      known.set(messageId, { conversationId, messageId, words: new Map([[externalId, text]]) });
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
      const { asideOf: group } = JSON.parse(row.payload) as KeptAside;
      const taken = group === undefined ? undefined : [...(await groupsOf(tx, [{ accountId, group }])).values()][0];
      return taken?.conversationId === conversationId ? of(conversationId, taken.messageId) : undefined;
    },
  };
}
