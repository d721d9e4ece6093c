import { setThread } from "#database/queries/desk.ts";
import type { LeasedRow } from "#database/queries/outbox.ts";
import { LostLease, insertWork, isHeld } from "#database/queries/outbox.ts";
import type { Clock } from "#runtime/clock.ts";
import type { Store } from "#database/contract.ts";
import type { SyncItem } from "#conversations/work/desk-sync-work.ts";
import { syncAlso } from "#conversations/work/desk-sync-work.ts";

/** Guards calls that replace a post which another process may have updated since. */
export interface OverwriteGuard {
  /** Must be called before such a call for an item, or null for the card. Throws `LostLease` if another process took over. */
  begin(item: SyncItem | null): Promise<void>;
  /** Called after a lost lease: a call that paused may have restored an old state, so the current one is shown again. */
  again(): Promise<void>;
}

export function createOverwriteGuard(
  { store, clock }: { readonly store: Store; readonly clock: Clock },
  work: LeasedRow,
  conversationId: string,
): OverwriteGuard {
  let isCard = false;
  const items = new Map<string, SyncItem>();
  return {
    async begin(item) {
      if (!(await isHeld(store, work))) throw new LostLease();
      if (item === null) isCard = true;
      else items.set(JSON.stringify(item), item);
    },
    async again() {
      if (!isCard && items.size === 0) return;
      const now = clock.now();
      await store.write(async (tx) => {
        if (isCard) await setThread(tx, conversationId, { card_hash: null });
        const works = await syncAlso(tx, conversationId, [...items.values()], now);
        if (works !== null) await insertWork(tx, [works], now);
      });
    },
  };
}
