import { declaredSettings } from "#admin/workspaces/declared-settings.ts";
import { isChat } from "#channels/catalog.ts";
import type { Store } from "#database/contract.ts";

/** The accounts of a workspace with what the processes that run them have stored about them. Built-in ones come last. */
export async function listAccounts(store: Store, workspaceId: string, now: number) {
  const rows = await store.read
    .selectFrom("accounts")
    .innerJoin("workspaces", "workspaces.id", "accounts.workspace_id")
    .leftJoin("account_status", "account_status.account_id", "accounts.id")
    .leftJoin("connection_leases", "connection_leases.account_id", "accounts.id")
    .selectAll("accounts")
    .select(["account_status.revision as status_revision", "account_status.state", "account_status.state_at"])
    .select(["account_status.error", "account_status.error_at", "account_status.last_event_at"])
    .select(["connection_leases.lease_until", "workspaces.declared_settings"])
    .where("accounts.workspace_id", "=", workspaceId)
    .where("accounts.removed_at", "is", null)
    .orderBy("accounts.name")
    .orderBy("accounts.id")
    .execute();
  return rows
    .map(({ lease_until: until, ...row }) => ({ ...row, isHeld: until !== null && until > now }))
    .toSorted((a, b) => Number(a.managed_by === "builtin") - Number(b.managed_by === "builtin"));
}

export type ListedAccount = Awaited<ReturnType<typeof listAccounts>>[number];

/** Whether administrators pause and resume the account; otherwise the configuration file does. */
export function canPause({ managed_by: by, channel, declared_settings: declared }: ListedAccount): boolean {
  if (by !== "builtin") return by === "dashboard";
  return isChat(channel) && !declaredSettings(declared).includes("pausedChannels");
}

export const accountStates = ["connected", "waiting", "starting", "broken", "paused", "disabled"] as const;
export type AccountState = (typeof accountStates)[number];

/**
 * How an account does. `hasConnection`: its adapter keeps a connection to the platform; without one the account waits for
 * deliveries. A status of other settings, or of a process that is gone, does not count.
 */
export function accountStateOf(account: ListedAccount, hasConnection: boolean): AccountState {
  const { enabled, paused, state, status_revision: of, revision, isHeld } = account;
  if (enabled === 0) return "disabled";
  if (paused === 1) return "paused";
  if (of === revision && state === "unusable") return "broken";
  if (!hasConnection) return "waiting";
  if (of !== revision || !isHeld || state === null) return "starting";
  return state === "running" ? "connected" : "broken";
}
