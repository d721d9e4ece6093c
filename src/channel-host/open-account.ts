import type { Account, AdapterModule, ChannelAdapter, ChannelHost } from "#channels/contract.ts";
import { channelConfigError } from "#channels/config-errors.ts";
import { namingSettings } from "#channels/http/guarded-connect.ts";
import type { LoadAdapter } from "#channels/load-adapter.ts";
import type { DeskSettings } from "#domain/workspace/settings.ts";
import { installationOf } from "#database/queries/accounts/installations.ts";
import { settingsIn } from "#database/queries/workspaces.ts";
import { accountRow } from "./account-lookup.ts";
import type { ChannelHostDependencies } from "./host.ts";
import { createChannelHost, createDeskHost } from "./host.ts";

export interface OpenAccount {
  readonly account: Account;
  readonly adapter: ChannelAdapter;
  /** The stored version of the account that the adapter was created from. */
  readonly revision: number;
  /** Nothing may be received, and messages wait. */
  readonly paused: boolean;
  /** Every workspace has it. It can be paused; its configuration never changes. */
  readonly builtin: boolean;
}

/** The revision of an account that was never changed. */
export const firstRevision = 1;

export interface ChannelDependencies extends ChannelHostDependencies {
  readonly load: LoadAdapter;
}

/** Hands a delivery to the account of an installation, but not to the one that has received it. */
export type Deliver = (
  from: Account,
  ...delivery: Parameters<NonNullable<ChannelHost["installation"]>["deliver"]>
) => ReturnType<NonNullable<ChannelHost["installation"]>["deliver"]>;

/**
 * Creates the adapter of an account. Undefined if the account does not exist or is disabled. `evenDisabled`: to erase the
 * desk's content, also of a disabled account and of a former desk.
 */
export async function openAccount(
  dependencies: ChannelDependencies,
  accountId: string,
  evenDisabled = false,
  deliver?: Deliver,
): Promise<OpenAccount | undefined> {
  const { store, secrets } = dependencies;
  const row = await accountRow(store.read, accountId);
  if (row === undefined || (row.enabled === 0 && !evenDisabled)) return undefined;
  const settings = JSON.parse(row.config) as object;
  const loading = dependencies.load(row.channel, settings);
  if (loading === undefined) throw new Error(`no adapter serves the channel ${row.channel}`);
  const module = await loading;
  const credentials = row.credentials === null ? {} : (JSON.parse(secrets.open(row.credentials)) as object);
  const config: unknown = { ...settings, ...credentials };
  const mistake = channelConfigError(module, config);
  if (mistake !== undefined) {
    throw new Error(`the configuration of account ${row.name} is wrong: ${mistake.message}`);
  }
  const { id, workspace_id: workspaceId, channel, name } = row;
  const account: Account = { id, workspaceId, channel, name, config };
  const stored = { revision: row.revision, paused: row.paused === 1, builtin: row.managed_by === "builtin" };
  const installed = row.managed_by === "dashboard" ? await installationOf(store.read, id) : undefined;
  const options = {
    guarded: row.managed_by === "dashboard",
    evenDisabled,
    revision: row.revision,
    ...(installed === undefined || deliver === undefined
      ? {}
      : { installation: { key: installed.key, deliver: deliver.bind(undefined, account) } }),
  };
  return { account, adapter: await createAdapter(dependencies, module, account, options), ...stored };
}

/**
 * Creates the adapter of an account that need not be stored. `guarded`: an administrator has chosen its servers, not the
 * operator. Throws an Error that names the fix.
 */
export async function createAdapter(
  dependencies: ChannelHostDependencies,
  module: AdapterModule,
  account: Account,
  options: {
    readonly guarded: boolean;
    readonly evenDisabled?: boolean;
    readonly revision?: number;
    readonly installation?: NonNullable<ChannelHost["installation"]>;
  },
): Promise<ChannelAdapter> {
  const { guarded, evenDisabled = false, revision = firstRevision, installation } = options;
  const { name, workspaceId } = account;
  // Read even while the workspace is being deleted, because its desk's content must be erased.
  const settings = (await settingsIn(dependencies.store.read, workspaceId)).desk;
  const ownDesk = settings?.account === name ? settings : undefined;
  const deskSettings = ownDesk ?? (evenDisabled ? formerDesk(name) : undefined);
  const desk = deskSettings === undefined ? undefined : createDeskHost(dependencies, account, deskSettings);
  const settingsOfServers = account.config as Readonly<Record<string, unknown>>;
  const host = {
    ...createChannelHost(dependencies, account, revision),
    ...(desk === undefined ? {} : { desk }),
    ...(installation === undefined ? {} : { installation }),
    ...(guarded
      ? { lookup: namingSettings(dependencies.guardedLookup, module.addresses ?? [], settingsOfServers) }
      : {}),
  };
  return module.create(account, host);
}

const formerDesk = (account: string): DeskSettings => ({
  account,
  channel: "",
  mirror: "escalated",
  replyMode: "explicit",
});
