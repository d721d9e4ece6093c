import { DeliveryError } from "#channels/errors.ts";
import type { Files } from "#files/contract.ts";
import type { Store } from "#database/contract.ts";

/**
 * Returns the bytes of a file of this message or conversation, to send them to a platform. Throws DeliveryError, with the
 * outcome `not_sent` if the storage is unavailable.
 */
export async function storedBytes(
  { store, files }: { readonly store: Store; readonly files: Pick<Files, "open"> },
  of: { readonly message_id: string } | { readonly conversation_id: string },
  id: string,
): Promise<AsyncIterable<Uint8Array>> {
  const row = await store.read
    .selectFrom("attachments")
    .select(["id", "workspace_id"])
    .where((eb) => eb.and({ id, state: "stored", ...of }))
    .executeTakeFirst();
  if (row === undefined) throw new DeliveryError("rejected", "the file is not stored any more");
  try {
    return await files.open({ workspaceId: row.workspace_id, id: row.id });
  } catch (error) {
    throw new DeliveryError("not_sent", "the file cannot be read at the moment", { cause: error });
  }
}
