import type { Account, ChannelAdapter } from "#channels/contract.ts";
import { DeliveryError } from "#channels/errors.ts";
import type { Channel } from "#domain/conversation/message.ts";
import type { DeskSettings } from "#domain/workspace/settings.ts";
import type { Accounts } from "#conversations/engine.ts";
import { threadTopic } from "#queue/signals/topics.ts";
import type { Channels } from "#channels/channels.ts";
import type { Reader } from "#database/contract.ts";
import { settingsIn } from "#database/queries/workspaces.ts";
import { createTypingIndicators } from "./typing-indicator.ts";
import { channelConfigError } from "#channels/config-errors.ts";
import type { LoadAdapter } from "#channels/load-adapter.ts";
import type { ChannelHostDependencies } from "./host.ts";
import { createChannelHost, createDeskHost } from "./host.ts";

export interface Opened {
  readonly account: Account;
  readonly adapter: ChannelAdapter;
}

export interface ChannelDependencies extends ChannelHostDependencies {
  readonly load: LoadAdapter;
}

export interface ChannelRegistry extends Channels, Accounts {
  /** The adapter of this workspace's account on a channel that has one account each. Undefined: no such workspace. */
  site(workspaceId: string, channel: Channel): Promise<Opened | undefined>;
  /** Some workspace's account on this channel, for what is the same for all of them. */
  anySite(channel: Channel): Promise<Opened | undefined>;
  /** The adapter of an account; undefined when there is none. */
  open(accountId: string): Promise<Opened | undefined>;
  close(): Promise<void>;
}

/** Loads adapters when an account first needs them, and stands between them and the engine. */
export function createChannels(dependencies: ChannelDependencies): ChannelRegistry {
  const { store, clock, log } = dependencies;
  const opened = new Map<string, Promise<Opened | undefined>>();
  const ready = new Map<string, Opened>();
  /** Of accounts that may be disabled: nothing but what their desks show is of interest. */
  const erasing = new Map<string, Promise<Opened | undefined>>();
  const sites = new Map<string, string>();
  const signs = createTypingIndicators(clock);

  function open(accountId: string): Promise<Opened | undefined> {
    const known = opened.get(accountId);
    if (known !== undefined) return known;
    const opening = openAccount(accountId);
    opened.set(accountId, opening);
    const forget = () => opened.delete(accountId);
    opening.then((found) => (found === undefined ? forget() : ready.set(accountId, found)), forget);
    return opening;
  }

  async function openAccount(accountId: string, evenDisabled = false): Promise<Opened | undefined> {
    const row = await accountRow(store.read, accountId);
    if (row === undefined || (row.enabled === 0 && !evenDisabled)) return undefined;
    const loading = dependencies.load(row.channel);
    if (loading === undefined) throw new Error(`no adapter serves the channel ${row.channel}`);
    const module = await loading;
    const secrets = row.credentials === null ? {} : (JSON.parse(dependencies.secrets.open(row.credentials)) as object);
    const config: unknown = { ...(JSON.parse(row.config) as object), ...secrets };
    const mistake = channelConfigError(module, config);
    if (mistake !== undefined) {
      throw new Error(`the configuration of account ${row.name} is wrong: ${mistake.message}`);
    }
    const account: Account = {
      id: row.id,
      workspaceId: row.workspace_id,
      channel: row.channel,
      name: row.name,
      config,
    };
    // Also while the workspace is being deleted: what its desk shows is to be taken back.
    const settings = (await settingsIn(store.read, row.workspace_id)).desk;
    const own = settings?.account === row.name ? settings : undefined;
    // What it showed while it was the desk's is taken back also when another one is.
    const place = own ?? (evenDisabled ? formerDesk(row.name) : undefined);
    const desk = place === undefined ? undefined : createDeskHost(dependencies, account, place);
    const host = { ...createChannelHost(dependencies, account), ...(desk === undefined ? {} : { desk }) };
    return { account, adapter: module.create(account, host) };
  }

  function loaded(account: Pick<Account, "id">): Opened {
    const found = ready.get(account.id);
    if (found === undefined) {
      throw new DeliveryError("rejected", "the channel account of this conversation was removed or is disabled");
    }
    return found;
  }

  function adapter(account: Pick<Account, "id">): ChannelAdapter {
    return loaded(account).adapter;
  }

  function typing(account: Pick<Account, "id">, thread: string, who: Parameters<Channels["typing"]>[2]): void {
    const { inbound, typing: show } = adapter(account);
    if (inbound.kind === "site") {
      // The customer's socket may be held by another process.
      dependencies.fanout.publish(threadTopic(account.id, thread), JSON.stringify({ kind: "typing", who }));
      return;
    }
    show?.call(adapter(account), thread, who).catch((error: unknown) => {
      signs.end(threadTopic(account.id, thread));
      log.warn({ err: error, account: account.id }, "channels: showing a typing sign failed");
    });
  }

  return {
    open,
    async ready(account) {
      if (ready.has(account.id)) return;
      const row = await accountRow(store.read, account.id);
      if (row?.channel === "api") return;
      if ((await open(account.id)) === undefined) {
        throw new DeliveryError("rejected", "the channel account of this conversation was removed or is disabled");
      }
    },
    async get(id) {
      const known = ready.get(id)?.account;
      if (known !== undefined) return known;
      const row = await accountRow(store.read, id);
      return row === undefined || row.enabled === 0
        ? undefined
        : { id: row.id, workspaceId: row.workspace_id, channel: row.channel };
    },
    async api(workspaceId) {
      const id = await idOf(workspaceId, "api");
      if (id === undefined) throw new Error("the workspace has no account for the API");
      return { id, channel: "api" };
    },
    async site(workspaceId, channel) {
      if ((await dependencies.workspaces.get(workspaceId)) === undefined) return undefined;
      const id = await idOf(workspaceId, channel);
      return id === undefined ? undefined : open(id);
    },
    async anySite(channel) {
      const row = await store.read
        .selectFrom("accounts")
        .innerJoin("workspaces", "workspaces.id", "accounts.workspace_id")
        .select("accounts.id")
        .where("accounts.channel", "=", channel)
        .where("accounts.managed_by", "=", "builtin")
        .where("workspaces.deleted_at", "is", null)
        .limit(1)
        .executeTakeFirst();
      return row === undefined ? undefined : open(row.id);
    },
    render: (account, message) => adapter(account).render(message),
    async send(given, part, context) {
      const { account, adapter: to } = loaded(given);
      signs.end(threadTopic(account.id, context.thread));
      return dependencies.metrics.send(account.channel, () => to.send(part, context));
    },
    async reconcile(account, key, context, attempt) {
      const { reconcile } = adapter(account);
      return reconcile === undefined ? "cannot_tell" : reconcile.call(adapter(account), key, context, attempt);
    },
    reconciles: (account) => adapter(account).reconcile !== undefined,
    fileBytesMax: (account) => adapter(account).capabilities.fileBytesMax ?? 0,
    window: (account) => adapter(account).window,
    isPrivate: (account, thread) => adapter(account).isPrivate?.(thread) ?? false,
    fetchFile: (account, ref, signal) => adapter(account).fetchFile?.(ref, signal),
    idempotentSend: (account) => adapter(account).capabilities.idempotentSend,
    loaded: (account) => ready.has(account.id),
    async followUp(workspaceId) {
      const rows = await store.read
        .selectFrom("accounts")
        .select("id")
        .where("workspace_id", "=", workspaceId)
        .where("channel", "=", "email")
        .where("enabled", "=", 1)
        .orderBy("created_at")
        .orderBy("id")
        .execute();
      for (const { id } of rows) {
        const found = await open(id).catch((error: unknown) => {
          // The reply itself must not wait for somebody to mend another account.
          log.error({ err: error, account: id }, "channels: e-mail account for follow-ups unusable");
          return undefined;
        });
        const followUp = found?.adapter.capabilities.followUp;
        if (followUp !== undefined) return { accountId: id, afterMs: followUp.afterMs };
      }
      return undefined;
    },
    typing,
    typingSoon(account, thread, who) {
      const { inbound, capabilities } = adapter(account);
      if (inbound.kind !== "site") {
        return signs.begin(threadTopic(account.id, thread), capabilities.typingMs, () => {
          // The account may be gone by then.
          if (ready.has(account.id)) typing(account, thread, who);
        });
      }
      typing(account, thread, who);
      return () => undefined;
    },
    can: (account, what) => adapter(account)[what] !== undefined,
    async edit(account, part, externalId, context) {
      await adapter(account).edit?.(part, externalId, context);
    },
    async remove(account, externalId, context) {
      await adapter(account).remove?.(externalId, context);
    },
    async setState(account, state, context) {
      await adapter(account).setState?.(state, context);
    },
    async addNote(account, note, context) {
      await adapter(account).addNote?.(note, context);
    },
    async handOver(account, handover, context) {
      await adapter(account).handOver?.(handover, context);
    },
    desk: (account) => ready.get(account.id)?.adapter.desk,
    async deskToErase(account) {
      const known = ready.get(account.id);
      if (known !== undefined) return known.adapter.desk;
      let opening = erasing.get(account.id);
      if (opening === undefined) {
        opening = openAccount(account.id, true);
        erasing.set(account.id, opening);
        // A failure, or an account that is not there, is not remembered.
        const forget = () => erasing.delete(account.id);
        opening.then((found) => found ?? forget(), forget);
      }
      return (await opening)?.adapter.desk;
    },
    named: (workspaceId, name) =>
      store.read
        .selectFrom("accounts")
        .select("id")
        .where("workspace_id", "=", workspaceId)
        .where("name", "=", name)
        .where("enabled", "=", 1)
        .executeTakeFirst(),
    async close() {
      signs.close();
      const all = await Promise.allSettled([...opened.values(), ...erasing.values()]);
      for (const each of all) {
        if (each.status === "fulfilled") await each.value?.adapter.close();
      }
    },
  };

  async function idOf(workspaceId: string, channel: Channel): Promise<string | undefined> {
    const key = `${workspaceId}\n${channel}`;
    const known = sites.get(key);
    if (known !== undefined) return known;
    const row = await store.read
      .selectFrom("accounts")
      .select("id")
      .where("workspace_id", "=", workspaceId)
      .where("name", "=", channel)
      .where("managed_by", "=", "builtin")
      .executeTakeFirst();
    if (row !== undefined) sites.set(key, row.id);
    return row?.id;
  }
}

const formerDesk = (account: string): DeskSettings => ({
  account,
  channel: "",
  mirror: "escalated",
  replyMode: "explicit",
});

function accountRow(db: Reader, id: string) {
  return db.selectFrom("accounts").selectAll().where("id", "=", id).executeTakeFirst();
}
