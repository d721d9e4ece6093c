import { DeliveryError } from "#channel/errors.ts";
import type { OutboxRow } from "#store/outbox.ts";
import { finishWork } from "#store/outbox.ts";
import type { Channels, Log, Store } from "../ports.ts";
import type { ErasePayload } from "./erase-work.ts";
import { later } from "./mirror.ts";

/** Takes back, one by one, what the desk shows of a conversation that is deleted. To take back twice does no harm. */
export async function eraseShown(
  { store, log, channels }: { readonly store: Store; readonly log: Log; readonly channels: Channels },
  row: OutboxRow,
  signal: AbortSignal,
): Promise<void> {
  const { accountId, shown } = JSON.parse(row.payload) as ErasePayload;
  const desk = await channels.deskToErase({ id: accountId });
  if (desk === undefined) {
    log.warn(
      { account: accountId, shown: shown.length },
      "the account of a desk is gone, and what it shows stays there",
    );
  }
  for (const id of desk === undefined ? [] : shown) {
    signal.throwIfAborted();
    try {
      await desk?.remove(id, { key: `erase.${row.id}`, signal });
    } catch (error) {
      if (!(error instanceof DeliveryError) || error.outcome !== "rejected") throw later(error);
      log.warn({ err: error }, "something that the desk shows of a deleted conversation could not be taken back");
    }
  }
  await store.write((tx) => finishWork(tx, [row]));
}
