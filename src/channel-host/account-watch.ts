import type { Store } from "#database/contract.ts";
import type { Clock } from "#runtime/clock.ts";
import type { Log } from "#runtime/log.ts";
import type { Fanout } from "#runtime/signals.ts";
import { accountsTopic } from "#queue/signals/topics.ts";
import type { AccountStatus } from "./account-status.ts";
import { firstRevision } from "./open-account.ts";
import type { ChannelRegistry } from "./registry.ts";

/** Applies changes of accounts to this process, whichever process made them. */
export interface AccountWatch {
  close(): Promise<void>;
}

export interface AccountWatchDependencies {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly fanout: Fanout;
  readonly channels: Pick<ChannelRegistry, "refresh">;
  readonly status: Pick<AccountStatus, "flush">;
  /** Called after an account was added, changed or removed. */
  readonly onChange: () => void;
}

/** Changes of other processes are noticed after this time, also when no signal arrives. */
const pollMs = 500;

export function openAccountWatch(dependencies: AccountWatchDependencies): AccountWatch {
  const { store, clock, log, fanout, channels, status, onChange } = dependencies;
  let known: string | undefined;
  let closing = false;
  let failing = false;
  let looking: Promise<void> = Promise.resolve();
  let stopTimer = clock.timer(pollMs, tick);
  const unsubscribe = fanout.subscribe(accountsTopic, lookSoon);

  function tick(): void {
    lookSoon();
    void looking.finally(() => {
      if (!closing) stopTimer = clock.timer(pollMs, tick);
    });
  }

  /** Looks must not overlap: two at once could replace an account twice. */
  function lookSoon(): void {
    looking = looking.then(look).catch((error: unknown) => {
      if (!failing) log.error({ err: error }, "channels: watching the accounts failed, retrying");
      failing = true;
    });
  }

  async function look(): Promise<void> {
    if (closing) return;
    const rows = await store.read
      .selectFrom("accounts")
      .select(["id", "revision"])
      // Most built-in accounts never change, and every workspace has three.
      .where((eb) => eb.or([eb("managed_by", "!=", "builtin"), eb("revision", ">", firstRevision)]))
      .orderBy("id")
      .execute();
    await channels.refresh(new Map(rows.map(({ id, revision }) => [id, revision])));
    const now = JSON.stringify(rows);
    // The first look may find an account that was added since the connections were checked.
    if (known !== now) onChange();
    known = now;
    await status.flush();
    failing = false;
  }

  return {
    async close() {
      closing = true;
      unsubscribe();
      stopTimer();
      await looking;
      await status.flush().catch((error: unknown) => {
        log.warn({ err: error }, "channels: storing the accounts' status failed");
      });
    },
  };
}
