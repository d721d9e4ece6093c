import { Value } from "typebox/value";
import Type from "typebox";
import { DeliveryError } from "#channels/errors.ts";
import type { ImapDependencies } from "./imap.ts";
import { closeImap, openImap } from "./imap.ts";
import { filesWithin } from "./mime/body.ts";

const refSchema = Type.Object({
  folder: Type.String(),
  v: Type.String(),
  uid: Type.Integer(),
  part: Type.String({ pattern: "^[0-9]{1,4}(?:\\.[0-9]{1,4}){0,40}$" }),
  nth: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000 })),
  id: Type.Union([Type.String(), Type.Null()]),
});

/** A file within a part: within signed data, or a picture within HTML. */
async function fileWithin(content: AsyncIterable<Uint8Array>, nth: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of content) chunks.push(chunk);
  const file = (await filesWithin(Buffer.concat(chunks)))[nth];
  if (file === undefined) throw new DeliveryError("rejected", "the file is not in its e-mail any more");
  return file.content;
}

/**
 * Streams a part of a mail from the mailbox over a connection of its own. The connection opens on the first read, so an
 * unread generator leaves none open.
 */
export async function* fetchPart(
  mailbox: ImapDependencies,
  ref: string,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const given: unknown = JSON.parse(ref);
  if (!Value.Check(refSchema, given)) throw new DeliveryError("rejected", "the reference to this file is unreadable");
  signal.throwIfAborted();
  const client = await openImap(mailbox, signal).catch((error: unknown) => {
    throw new DeliveryError("not_sent", error instanceof Error ? error.message : "the mailbox cannot be reached");
  });
  // Ends the wait for a server that stopped answering.
  const onAbort = (): void => client.close();
  signal.addEventListener("abort", onAbort, { once: true });
  let isRead = false;
  try {
    const box = await client.mailboxOpen(given.folder, { readOnly: true });
    let uid: number | undefined = given.uid;
    if (String(box.uidValidity) !== given.v) {
      // The folder was renumbered: find the mail by its Message-ID.
      const found =
        given.id === null ? false : await client.search({ header: { "message-id": given.id } }, { uid: true });
      uid = found === undefined || found === false ? undefined : found[0];
    }
    const download = uid === undefined ? undefined : await client.download(String(uid), given.part, { uid: true });
    if (download?.content === undefined) {
      throw new DeliveryError("rejected", "the e-mail that this file came with is not in the mailbox any more");
    }
    isRead = true;
    const content = download.content as AsyncIterable<Uint8Array>;
    if (given.nth === undefined) yield* content;
    else yield await fileWithin(content, given.nth);
  } catch (cause) {
    if (cause instanceof DeliveryError) throw cause;
    const message = isRead ? "the connection to the mailbox broke" : "the file could not be read from the mailbox";
    throw new DeliveryError("not_sent", message, { cause });
  } finally {
    signal.removeEventListener("abort", onAbort);
    await closeImap(client);
  }
}
