import type { AccountStatus } from "#channel-host/account-status.ts";
import type { AccountWatch } from "#channel-host/account-watch.ts";
import { openAccountWatch } from "#channel-host/account-watch.ts";
import type { Connections } from "#channel-host/connections.ts";
import { openConnections } from "#channel-host/connections.ts";
import type { ChannelRegistry } from "#channel-host/registry.ts";
import type { Store } from "#database/contract.ts";
import type { Clock } from "#runtime/clock.ts";
import type { End } from "#runtime/closing.ts";
import type { Log } from "#runtime/log.ts";
import type { Fanout } from "#runtime/signals.ts";

interface LiveParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly fanout: Fanout;
  readonly processId: string;
  readonly channels: ChannelRegistry;
  readonly status: AccountStatus;
}

export interface LiveAccounts {
  /** Absent in processes that only serve HTTP. */
  readonly connections: Connections | undefined;
  readonly watch: AccountWatch;
}

/** Runs the accounts of this process, and applies their changes. `opened` gets what must be closed. */
export function openLiveAccounts(parts: LiveParts, isWorker: boolean, opened: End[]): LiveAccounts {
  const connections = isWorker ? openConnections(parts) : undefined;
  if (connections !== undefined) opened.push(() => connections.close());
  const watch = openAccountWatch({ ...parts, onChange: () => connections?.look() });
  opened.push(() => watch.close());
  return { connections, watch };
}
