import { Value } from "typebox/value";
import Type from "typebox";
import { DeliveryError } from "#channels/errors.ts";
import { closeImap, openImap } from "./imap.ts";
import type { ConnectionDependencies } from "./connection.ts";

const refSchema = Type.Object({
  folder: Type.String(),
  v: Type.String(),
  uid: Type.Integer(),
  part: Type.String({ pattern: "^[0-9]{1,4}(?:\\.[0-9]{1,4}){0,40}$" }),
  id: Type.Union([Type.String(), Type.Null()]),
});

/**
 * The bytes of a part of a mail that lies in the mailbox, by a connection of its own. It is opened when the first bytes are
 * asked for: who never asks leaves none open.
 */
export async function* fetchPart(
  { config, credentials }: Pick<ConnectionDependencies, "config" | "credentials">,
  ref: string,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const given: unknown = JSON.parse(ref);
  if (!Value.Check(refSchema, given)) throw new DeliveryError("rejected", "this file has no place in the mailbox");
  signal.throwIfAborted();
  const client = await openImap(config, credentials, signal).catch((error: unknown) => {
    throw new DeliveryError("not_sent", error instanceof Error ? error.message : "the mailbox cannot be reached");
  });
  // A server that falls silent is not waited for any longer than the others.
  const onAbort = (): void => client.close();
  signal.addEventListener("abort", onAbort, { once: true });
  let isRead = false;
  try {
    const box = await client.mailboxOpen(given.folder, { readOnly: true });
    let uid: number | undefined = given.uid;
    if (String(box.uidValidity) !== given.v) {
      // The numbers mean other mails by now.
      const found =
        given.id === null ? false : await client.search({ header: { "message-id": given.id } }, { uid: true });
      uid = found === undefined || found === false ? undefined : found[0];
    }
    const download = uid === undefined ? undefined : await client.download(String(uid), given.part, { uid: true });
    if (download?.content === undefined) {
      throw new DeliveryError("rejected", "the e-mail that this file came with is not in the mailbox any more");
    }
    isRead = true;
    for await (const chunk of download.content as AsyncIterable<Uint8Array>) yield chunk;
  } catch (cause) {
    if (cause instanceof DeliveryError) throw cause;
    const message = isRead ? "the connection to the mailbox broke" : "the file could not be read from the mailbox";
    throw new DeliveryError("not_sent", message, { cause });
  } finally {
    signal.removeEventListener("abort", onAbort);
    await closeImap(client);
  }
}
