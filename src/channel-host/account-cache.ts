import type { Log } from "#runtime/log.ts";
import type { OpenAccount } from "./open-account.ts";

/** The accounts that this process has opened. */
export interface AccountCache {
  /** Opens the account once. A failure and a missing account are not cached. */
  open(accountId: string): Promise<OpenAccount | undefined>;
  opened(accountId: string): OpenAccount | undefined;
  all(): readonly OpenAccount[];
  /**
   * Opens a cached account again, as it is stored now. It is replaced in one step: between two calls of a sender there is
   * always an adapter, unless the account is gone. The old adapter is closed when nothing holds it any more.
   */
  replace(accountId: string): Promise<void>;
  /** Keeps the account's adapter open until the returned function is called. */
  hold(account: OpenAccount): () => void;
  close(): Promise<void>;
}

export function createAccountCache(
  openNew: (accountId: string) => Promise<OpenAccount | undefined>,
  log: Log,
): AccountCache {
  const opening = new Map<string, Promise<OpenAccount | undefined>>();
  const opened = new Map<string, OpenAccount>();
  const holders = new Map<OpenAccount, number>();
  /** Replaced accounts that something still holds. */
  const retired = new Set<OpenAccount>();

  async function end(account: OpenAccount): Promise<void> {
    retired.delete(account);
    try {
      await account.adapter.close();
    } catch (error) {
      log.warn({ err: error, account: account.account.id }, "channels: closing an adapter failed");
    }
  }

  function retire(account: OpenAccount): void {
    retired.add(account);
    if (!holders.has(account)) void end(account);
  }

  return {
    opened: (accountId) => opened.get(accountId),
    all: () => [...opened.values()],
    open(accountId) {
      const cached = opening.get(accountId);
      if (cached !== undefined) return cached;
      const promise = openNew(accountId);
      opening.set(accountId, promise);
      const remove = () => opening.delete(accountId);
      promise.then((account) => (account === undefined ? remove() : opened.set(accountId, account)), remove);
      return promise;
    },
    async replace(accountId) {
      const before = opened.get(accountId);
      if (before === undefined) return;
      const next = await openNew(accountId);
      if (next === undefined) {
        opened.delete(accountId);
        opening.delete(accountId);
      } else {
        opened.set(accountId, next);
        opening.set(accountId, Promise.resolve(next));
      }
      retire(before);
    },
    hold(account) {
      holders.set(account, (holders.get(account) ?? 0) + 1);
      return () => {
        const rest = (holders.get(account) ?? 1) - 1;
        if (rest > 0) {
          holders.set(account, rest);
          return;
        }
        holders.delete(account);
        if (retired.has(account)) void end(account);
      };
    },
    async close() {
      const all = await Promise.allSettled(opening.values());
      await Promise.all([...retired].map(end));
      for (const each of all) {
        if (each.status === "fulfilled") await each.value?.adapter.close();
      }
    },
  };
}
