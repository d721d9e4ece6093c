import type { Store } from "#database/contract.ts";
import type { AccountStatusChange } from "#database/queries/accounts/status.ts";
import { storeAccountStatus } from "#database/queries/accounts/status.ts";
import type { Clock } from "#runtime/clock.ts";

/**
 * Collects how the accounts of this process do, for the dashboard, which any process serves. Nothing is written before
 * {@link AccountStatus.flush}: messages must not cost a statement more.
 */
export interface AccountStatus {
  /** The platform delivered an event. */
  received(accountId: string): void;
  connection(accountId: string, revision: number, state: "running" | "broken" | "unusable", cause: string | null): void;
  /** A call of the platform failed. `message` must not contain a credential. */
  failed(accountId: string, message: string): void;
  /** Stores what is new, and resolves when that is durable. After a failure it is stored by the next call. */
  flush(): Promise<void>;
}

/** An account that is in constant use is stored no more often than this. */
const eventsMs = 10_000;
const errorMax = 1_000;

export function createAccountStatus({
  store,
  clock,
}: {
  readonly store: Pick<Store, "write">;
  readonly clock: Clock;
}): AccountStatus {
  const pending = new Map<string, AccountStatusChange>();
  const storedEvents = new Map<string, number>();

  const add = (accountId: string, change: AccountStatusChange): void => {
    pending.set(accountId, { ...pending.get(accountId), ...change });
  };
  let flushing: Promise<void> = Promise.resolve();

  async function storePending(): Promise<void> {
    const changes = [...pending];
    if (changes.length === 0) return;
    pending.clear();
    try {
      await store.write(async (tx) => {
        for (const [accountId, change] of changes) await storeAccountStatus(tx, accountId, change);
      });
    } catch (error) {
      for (const [accountId, change] of changes) pending.set(accountId, { ...change, ...pending.get(accountId) });
      throw error;
    }
  }

  const failure = (message: string) => ({ error: message.slice(0, errorMax), error_at: clock.now() });

  return {
    received(accountId) {
      const now = clock.now();
      if (Math.abs(now - (storedEvents.get(accountId) ?? -eventsMs)) < eventsMs) return;
      storedEvents.set(accountId, now);
      add(accountId, { last_event_at: now });
    },
    connection(accountId, revision, state, cause) {
      add(accountId, { revision, state, state_at: clock.now(), ...(cause === null ? {} : failure(cause)) });
    },
    failed: (accountId, message) => add(accountId, failure(message)),
    flush() {
      // A change may be in the transaction of the call before.
      flushing = flushing.then(storePending, storePending);
      return flushing;
    },
  };
}
