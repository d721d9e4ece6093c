import type { Account, ChannelAdapter } from "#channels/contract.ts";
import { DeliveryError } from "#channels/errors.ts";
import type { Channel } from "#domain/conversation/message.ts";
import type { Accounts } from "#conversations/engine.ts";
import type { Reader } from "#database/contract.ts";
import { installedAccounts } from "#database/queries/accounts/installations.ts";
import type { Log } from "#runtime/log.ts";
import { threadTopic } from "#queue/signals/topics.ts";
import type { Channels, FollowUp } from "#channels/channels.ts";
import {
  accountRow,
  anyBuiltinAccount,
  createBuiltinAccounts,
  followUpAccounts,
  namedAccount,
} from "./account-lookup.ts";
import type { AccountCache } from "./account-cache.ts";
import { createAccountCache } from "./account-cache.ts";
import type { AccountStatus } from "./account-status.ts";
import type { ChannelDependencies, Deliver, OpenAccount } from "./open-account.ts";
import { createAdapter, firstRevision, openAccount } from "./open-account.ts";
import { createTypingIndicators } from "./typing-indicator.ts";

export interface ChannelRegistry extends Channels, Accounts {
  /** Returns the workspace's account on a channel that has one account each. Undefined: there is no such workspace. */
  site(workspaceId: string, channel: Channel): Promise<OpenAccount | undefined>;
  /** Returns some workspace's account on this channel, for content that does not depend on the workspace. */
  anySite(channel: Channel): Promise<OpenAccount | undefined>;
  /** Opens an account. Undefined if it does not exist or is disabled. */
  open(accountId: string): Promise<OpenAccount | undefined>;
  /** Creates the adapter of an account that need not be stored, and closes it. Throws an Error that names the fix. */
  tryOut(account: Account): Promise<void>;
  /** Keeps the adapter of an account that is in use open until the returned function is called. */
  hold(account: OpenAccount): () => void;
  /** Replaces the opened accounts whose stored revision is another one. `revisions`: of all accounts but unchanged built-in ones. */
  refresh(revisions: ReadonlyMap<string, number>): Promise<void>;
  close(): Promise<void>;
}

/** Platforms that deliver again do so after the account is resumed. */
export const isPaused = { status: 503, headers: { "retry-after": "300" }, body: "This channel is paused." };

const isGone = "the channel account of this conversation was removed or is disabled";

/** Opens accounts when they are first used. */
export function createChannels(dependencies: ChannelDependencies): ChannelRegistry {
  const { store, clock, log, fanout, metrics, workspaces, status } = dependencies;
  const accounts = createAccountCache((id) => openAccount(dependencies, id, false, deliver), log);
  // These accounts may be disabled, so only their desks may be used.
  const erasing = createAccountCache((id) => openAccount(dependencies, id, true), log);
  const builtinId = createBuiltinAccounts(store.read);
  const indicators = createTypingIndicators(clock);
  const { open, hold } = accounts;
  const deliver = createDeliver(store.read, accounts);
  const refresh = createRefresh(accounts, status, log);

  function loaded({ id }: { readonly id: string }): OpenAccount {
    const account = accounts.opened(id);
    if (account === undefined) throw new DeliveryError("rejected", isGone);
    return account;
  }

  const adapter = (account: { readonly id: string }): ChannelAdapter => loaded(account).adapter;

  const typing: Channels["typing"] = ({ id }, thread, who) => {
    const { inbound, typing: show } = adapter({ id });
    if (inbound.kind === "site") {
      // The customer's socket may be held by another process.
      fanout.publish(threadTopic(id, thread), JSON.stringify({ kind: "typing", who }));
      return;
    }
    show?.call(adapter({ id }), thread, who).catch((error: unknown) => {
      indicators.end(threadTopic(id, thread));
      log.warn({ err: error, account: id }, "channels: showing a typing sign failed");
    });
  };

  async function followUp(workspaceId: string): Promise<FollowUp | undefined> {
    for (const { id } of await followUpAccounts(store.read, workspaceId)) {
      const account = await open(id).catch((error: unknown) => {
        // The reply must not wait until an administrator fixes another account.
        log.error({ err: error, account: id }, "channels: e-mail account for follow-ups unusable");
        return undefined;
      });
      const { afterMs } = account?.adapter.capabilities.followUp ?? {};
      if (afterMs !== undefined) return { accountId: id, afterMs };
    }
    return undefined;
  }

  const send: Channels["send"] = async (given, part, context) => {
    const opened = loaded(given);
    const { account, adapter: to } = opened;
    indicators.end(threadTopic(account.id, context.thread));
    const release = hold(opened);
    try {
      return await metrics.send(account.channel, () => to.send(part, context));
    } catch (error) {
      // A refusal concerns this message only.
      if (error instanceof DeliveryError && error.outcome !== "rejected") status.failed(account.id, error.message);
      throw error;
    } finally {
      release();
    }
  };

  async function tryOut(account: Account): Promise<void> {
    const module = await dependencies.load(account.channel, account.config as object);
    if (module === undefined) throw new Error(`no adapter serves the channel ${account.channel}`);
    await (await createAdapter(dependencies, module, account, { guarded: true })).close();
  }

  return {
    open,
    tryOut,
    hold,
    refresh,
    adapter,
    loaded: ({ id }) => accounts.opened(id) !== undefined,
    paused: ({ id }) => accounts.opened(id)?.paused === true,
    async ready({ id }) {
      if (accounts.opened(id) !== undefined) return;
      const row = await accountRow(store.read, id);
      if (row?.channel === "api") return;
      if ((await open(id)) === undefined) throw new DeliveryError("rejected", isGone);
    },
    async get(id) {
      const account = accounts.opened(id)?.account;
      if (account !== undefined) return account;
      const row = await accountRow(store.read, id);
      if (row === undefined || row.enabled === 0) return undefined;
      return { id: row.id, workspaceId: row.workspace_id, channel: row.channel };
    },
    async api(workspaceId) {
      const id = await builtinId(workspaceId, "api");
      if (id === undefined) throw new Error("the workspace has no account for the API");
      return { id, channel: "api" };
    },
    async site(workspaceId, channel) {
      if ((await workspaces.get(workspaceId)) === undefined) return undefined;
      const id = await builtinId(workspaceId, channel);
      return id === undefined ? undefined : open(id);
    },
    async anySite(channel) {
      const row = await anyBuiltinAccount(store.read, channel);
      return row === undefined ? undefined : open(row.id);
    },
    named: (workspaceId, name) => namedAccount(store.read, workspaceId, name),
    followUp,
    send,
    typing,
    typingSoon(account, thread, who) {
      const { inbound, capabilities } = adapter(account);
      if (inbound.kind !== "site") {
        return indicators.begin(threadTopic(account.id, thread), capabilities.typingMs, () => {
          // The account may be gone by then.
          if (accounts.opened(account.id) !== undefined) typing(account, thread, who);
        });
      }
      typing(account, thread, who);
      return () => undefined;
    },
    desk: ({ id }) => accounts.opened(id)?.adapter.desk,
    async deskToErase({ id }) {
      const account = accounts.opened(id) ?? (await erasing.open(id));
      return account?.adapter.desk;
    },
    async close() {
      indicators.close();
      await Promise.all([accounts.close(), erasing.close()]);
    },
  };
}

function createDeliver(db: Reader, { open, hold }: Pick<AccountCache, "open" | "hold">): Deliver {
  /** The accounts' ids by key, for each channel. The key of an account never changes. */
  const known = new Map<Channel, ReadonlyMap<string, string>>();

  async function find(channel: Channel, key: string): Promise<OpenAccount | undefined> {
    const id = known.get(channel)?.get(key);
    return id === undefined ? undefined : open(id);
  }

  return async ({ id, channel }, key, request) => {
    let opened = await find(channel, key);
    if (opened === undefined) {
      known.set(channel, await installedAccounts(db, channel));
      opened = await find(channel, key);
    }
    if (opened === undefined || opened.account.id === id) return null;
    const { inbound } = opened.adapter;
    if (inbound.kind === "site" || inbound.receive === undefined) return null;
    if (opened.paused) return isPaused;
    const release = hold(opened);
    try {
      return await inbound.receive(request);
    } finally {
      release();
    }
  };
}

/** An account whose new settings cannot be opened keeps the adapter of the old ones, and the failure is shown. */
function createRefresh(
  accounts: AccountCache,
  status: Pick<AccountStatus, "connection">,
  log: Log,
): ChannelRegistry["refresh"] {
  /** The revisions that could not be opened. Each failure is logged once. */
  const failed = new Map<string, number>();
  return async (revisions) => {
    for (const { account, revision, builtin } of accounts.all()) {
      const now = revisions.get(account.id) ?? (builtin ? firstRevision : undefined);
      if (now === revision) continue;
      try {
        await accounts.replace(account.id);
        failed.delete(account.id);
      } catch (error) {
        if (now === undefined || failed.get(account.id) === now) continue;
        failed.set(account.id, now);
        log.error({ err: error, account: account.id }, "channels: opening a changed account failed, retrying");
        status.connection(account.id, now, "unusable", error instanceof Error ? error.message : "unknown failure");
      }
    }
  };
}
