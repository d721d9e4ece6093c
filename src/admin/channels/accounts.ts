import { isDeepStrictEqual } from "node:util";
import type { Selectable } from "kysely";
import { channelLabel, hasTrait, isChat, noAdapter, providersOf } from "#channels/catalog.ts";
import type { ChannelConfigError } from "#channels/config-errors.ts";
import { channelConfigErrors } from "#channels/config-errors.ts";
import type { Account, AdapterModule } from "#channels/contract.ts";
import type { LoadAdapter } from "#channels/load-adapter.ts";
import { hastenWaitingWork } from "#conversations/delivery/paused.ts";
import type { Store, Tx } from "#database/contract.ts";
import { isDuplicate } from "#database/duplicate-key.ts";
import type { AccountsTable } from "#database/schema/tables.ts";
import type { Actor, Channel } from "#domain/conversation/message.ts";
import { newId } from "#domain/ids.ts";
import { Problem } from "#domain/problem.ts";
import type { AllowPrivate } from "#outbound/addresses.ts";
import type { Clock } from "#runtime/clock.ts";
import type { Secrets } from "#runtime/secrets.ts";
import { recordChange } from "#admin/audit.ts";
import { readStored, requireOwn as requireOwnSetting } from "#admin/settings/change.ts";
import type { ChannelSettings } from "./account-settings.ts";
import { identityHash, openedSettings, sealedSettings, splitSettings } from "./account-settings.ts";
import { requireNoDesk, setPaused } from "./pausing.ts";
import { requirePublicServers } from "./server-addresses.ts";

/** The effects of changes on running processes. */
export interface AccountEffects {
  /** Creates the account's adapter and discards it. Rejects with an Error whose message says what to do. No network. */
  tryOut(account: Account): Promise<void>;
  /** Notifies all processes after the commit. `lanes`: of work that is due now. */
  publish(lanes: readonly string[]): void;
}

export interface AccountAdmin {
  readonly store: Store;
  readonly clock: Clock;
  readonly secrets: Secrets;
  readonly load: LoadAdapter;
  readonly allowPrivate: AllowPrivate;
  readonly effects: AccountEffects;
}

export type AccountRow = Selectable<AccountsTable>;

/** An account of this workspace, whoever manages it. Throws Problem `not_found`. */
export async function accountIn(
  db: Pick<Store["read"], "selectFrom">,
  workspaceId: string,
  id: string,
): Promise<AccountRow> {
  const row = await db
    .selectFrom("accounts")
    .selectAll()
    .where("id", "=", id)
    .where("workspace_id", "=", workspaceId)
    .where("removed_at", "is", null)
    .executeTakeFirst();
  if (row === undefined) throw new Problem("not_found", "This workspace has no such channel.");
  return row;
}

export interface NewAccount {
  readonly workspaceId: string;
  readonly channel: Channel;
  readonly name: string;
  readonly settings: ChannelSettings;
  /** One that nothing has used. Absent: a new one. */
  readonly id?: string | undefined;
  readonly by: Actor;
  /** Stores what belongs to the account, in its transaction. */
  readonly store?: StoreWithAccount;
}

type StoreWithAccount = (tx: Tx, accountId: string) => Promise<void>;

/** Connects an account, which starts in the process that runs connections. Returns its id. */
export async function connectAccount(admin: AccountAdmin, given: NewAccount): Promise<string> {
  const { store, clock, secrets, effects } = admin;
  const { workspaceId, channel, by } = given;
  const name = given.name.trim();
  const { id = newId("acc", clock.now()) } = given;
  const prepared = await prepare(admin, { id, workspaceId, channel, name, config: given.settings });
  await againstDuplicates(prepared.usedBy, () =>
    store.write(async (tx) => {
      const now = clock.now();
      await requireFreeId(tx, id);
      await requireFreeName(tx, workspaceId, name, id);
      await requireUnused(tx, secrets, prepared);
      await tx
        .insertInto("accounts")
        .values({
          id,
          workspace_id: workspaceId,
          channel,
          name,
          ...prepared.stored,
          managed_by: "dashboard",
          enabled: 1,
          created_at: now,
          identity: prepared.identity,
        })
        .execute();
      await given.store?.(tx, id);
      await recordChange(tx, {
        workspaceId,
        by,
        action: "channel_added",
        subject: name,
        to: channelLabel(channel),
        now,
      });
    }),
  );
  effects.publish([]);
  return id;
}

export interface AccountChange {
  readonly workspaceId: string;
  readonly id: string;
  readonly name?: string | undefined;
  /** Replace all settings but secrets. A secret that is absent stays; null removes it. */
  readonly settings?: ChannelSettings | undefined;
  /** The revision that the editor began with. Absent: any. */
  readonly revision?: number | undefined;
  readonly by: Actor;
  /** Stores what belongs to the account, in its transaction. The account is then replaced even if no setting differs. */
  readonly store?: StoreWithAccount;
}

/** The process that runs the account replaces it. Messages that are being sent are finished with the old settings. */
export async function changeAccount(admin: AccountAdmin, change: AccountChange): Promise<void> {
  const { store, clock, secrets, effects } = admin;
  const { workspaceId, id, by, settings } = change;
  const before = await accountIn(store.read, workspaceId, id);
  requireOwn(before);
  requireRevision(before, change.revision ?? before.revision);
  const name = change.name?.trim() ?? before.name;
  const stored = openedSettings(secrets, before);
  const config = settings === undefined ? stored : await merged(admin, before, settings);
  const prepared = await prepare(admin, { id, workspaceId, channel: before.channel, name, config });
  await againstDuplicates(prepared.usedBy, () =>
    store.write(async (tx) => {
      const row = await accountIn(tx, workspaceId, id);
      requireRevision(row, before.revision);
      if (name !== row.name) {
        await requireFreeName(tx, workspaceId, name, id);
        await requireNoDesk(tx, row, "renamed");
      }
      const keys = [...new Set([...Object.keys(stored), ...Object.keys(config)])];
      const changed = keys.filter((key) => !isDeepStrictEqual(stored[key], config[key]));
      if (name !== row.name) changed.unshift("name");
      if (change.store !== undefined) changed.unshift("installation");
      if (changed.length === 0) return;
      await requireUnused(tx, secrets, prepared);
      // Another process may have changed the row since this transaction read it.
      const { numUpdatedRows } = await tx
        .updateTable("accounts")
        .set({ name, ...prepared.stored, identity: prepared.identity, revision: before.revision + 1 })
        .where("id", "=", id)
        .where("revision", "=", before.revision)
        .executeTakeFirstOrThrow();
      if (numUpdatedRows === 0n) throw changedMeanwhile();
      await change.store?.(tx, id);
      const now = clock.now();
      // Names of settings only: the values may be secret.
      await recordChange(tx, {
        workspaceId,
        by,
        action: "channel_changed",
        subject: name,
        to: changed.join(", "),
        now,
      });
    }),
  );
  effects.publish([]);
}

interface AccountAction {
  readonly workspaceId: string;
  readonly id: string;
  readonly by: Actor;
}

/** Receives nothing more; messages to customers wait. Website chat and chat page can be paused too. */
export const pauseAccount = (admin: AccountAdmin, action: AccountAction): Promise<void> =>
  changePaused(admin, action, true);

/** Receives again, and sends the messages that have waited. */
export const resumeAccount = (admin: AccountAdmin, action: AccountAction): Promise<void> =>
  changePaused(admin, action, false);

async function changePaused(
  { store, clock, effects }: AccountAdmin,
  { workspaceId, id, by }: AccountAction,
  isPaused: boolean,
): Promise<void> {
  const lanes = await store.write(async (tx) => {
    const row = await accountIn(tx, workspaceId, id);
    if (row.managed_by !== "builtin" || !isChat(row.channel)) requireOwn(row);
    else requireOwnSetting(await readStored(tx, workspaceId), "pausedChannels", "paused_channels");
    return setPaused(tx, row, isPaused, { by, now: clock.now() });
  });
  effects.publish(lanes);
}

/**
 * Ends the account and deletes its credentials. Its conversations stay readable. Messages that wait to be sent fail, and
 * agents see so in the conversation.
 */
export async function removeAccount(
  { store, clock, effects }: AccountAdmin,
  { workspaceId, id, by }: AccountAction,
): Promise<void> {
  const lanes = await store.write(async (tx) => {
    const row = await accountIn(tx, workspaceId, id);
    requireOwn(row);
    await requireNoDesk(tx, row, "removed");
    const now = clock.now();
    await tx
      .updateTable("accounts")
      .set((eb) => ({
        enabled: 0,
        paused: 0,
        removed_at: now,
        // The name becomes free for another account.
        name: `${row.name} (removed ${id})`,
        config: "{}",
        credentials: null,
        identity: null,
        revision: eb("revision", "+", 1),
      }))
      .where("id", "=", id)
      .execute();
    await tx.deleteFrom("account_state").where("account_id", "=", id).execute();
    await recordChange(tx, {
      workspaceId,
      by,
      action: "channel_removed",
      subject: row.name,
      from: channelLabel(row.channel),
      now,
    });
    return hastenWaitingWork(tx, id, now);
  });
  effects.publish(lanes);
}

export function requireOwn({ managed_by: by }: Pick<AccountRow, "managed_by">): void {
  if (by === "file") {
    throw new Problem("managed_by_file", "The configuration file declares this channel. Change it there.");
  }
  if (by === "builtin") throw new Problem("managed_by_file", "Every workspace has this channel. It cannot be changed.");
}

function requireRevision({ revision }: Pick<AccountRow, "revision">, expected: number): void {
  if (revision === expected) return;
  throw changedMeanwhile();
}

const changedMeanwhile = (): Problem =>
  new Problem("edit_conflict", "Somebody else has changed this channel. Load it again.");

/** Ids of all workspaces and of removed accounts count: platforms may still deliver to their addresses. */
async function requireFreeId(tx: Tx, id: string): Promise<void> {
  const other = await tx.selectFrom("accounts").select("id").where("id", "=", id).executeTakeFirst();
  if (other === undefined) return;
  throw new Problem(
    "already_exists",
    "A channel has been connected with this id and webhook address. Load the form again for another address.",
  );
}

async function requireFreeName(tx: Tx, workspaceId: string, name: string, id: string): Promise<void> {
  const other = await tx
    .selectFrom("accounts")
    .select("id")
    .where("workspace_id", "=", workspaceId)
    .where("name", "=", name)
    .where("id", "!=", id)
    .executeTakeFirst();
  if (other !== undefined) throw new Problem("already_exists", `There is a channel named ${name} already.`);
}

interface Prepared {
  readonly id: string;
  readonly channel: Channel;
  readonly module: AdapterModule;
  readonly stored: ReturnType<typeof sealedSettings>;
  readonly identity: string | null;
  /** The refusal of a second account with this identity. */
  readonly usedBy: string;
}

/** Checks the settings as far as that needs no platform. Throws Problem `invalid_parameter`. */
async function prepare(
  { secrets, load, effects, allowPrivate }: AccountAdmin,
  account: Account<ChannelSettings>,
): Promise<Prepared> {
  const { id, channel, config } = account;
  const module = hasTrait(channel, "builtin") ? undefined : await load(channel, config);
  if (module === undefined) {
    const isWrongProvider = providersOf(channel).length > 0;
    throw isWrongProvider
      ? invalidSettings([noAdapter(channel)])
      : new Problem("invalid_parameter", `channel: ${channel} cannot be connected`);
  }
  const errors = channelConfigErrors(module, config);
  if (errors.length > 0) throw invalidSettings(errors);
  await requirePublicServers(allowPrivate, module, config);
  try {
    await effects.tryOut(account);
  } catch (error) {
    const reason = error instanceof Error ? error.message : "these settings do not work together";
    throw new Problem("invalid_parameter", reason, { cause: error });
  }
  const { name = "this account of the platform" } = module.identity?.(config) ?? {};
  return {
    id,
    channel,
    module,
    stored: sealedSettings(secrets, splitSettings(module, config)),
    identity: identityHash(channel, module, config),
    usedBy: `Another channel already uses ${name}. Two channels would take its messages from each other.`,
  };
}

/** The form shows the problem at the first of the settings. */
export function invalidSettings(errors: readonly ChannelConfigError[]): Problem {
  const [{ setting, missing } = {}] = errors;
  const place = setting ?? missing;
  const text = errors.map(({ message }) => message).join("\n");
  return new Problem("invalid_parameter", place === undefined ? text : `settings.${place}: ${text}`);
}

/** A unique index refuses two accounts of the dashboard with one identity. Accounts of the file are compared here. */
async function requireUnused(tx: Tx, secrets: Secrets, { id, channel, module, identity, usedBy }: Prepared) {
  if (identity === null) return;
  const others = await tx
    .selectFrom("accounts")
    .select(["config", "credentials", "managed_by", "identity"])
    .where("channel", "=", channel)
    .where("enabled", "=", 1)
    .where("id", "!=", id)
    .execute();
  const isSame = (other: (typeof others)[number]): boolean =>
    other.managed_by === "file"
      ? identityHash(channel, module, openedSettings(secrets, other)) === identity
      : other.identity === identity;
  if (others.some(isSame)) throw new Problem("already_exists", usedBy);
}

/** Another process may connect the same account at the same moment. */
async function againstDuplicates(usedBy: string, write: () => Promise<void>): Promise<void> {
  try {
    await write();
  } catch (error) {
    if (isDuplicate(error)) throw new Problem("already_exists", usedBy, { cause: error });
    throw error;
  }
}

async function merged(
  { secrets, load }: Pick<AccountAdmin, "secrets" | "load">,
  stored: AccountRow,
  change: ChannelSettings,
): Promise<ChannelSettings> {
  const before = openedSettings(secrets, stored);
  const module = await load(stored.channel, before);
  const { secret } = splitSettings(module ?? { secrets: [] }, before);
  const config = Object.fromEntries(Object.entries({ ...secret, ...change }).filter(([, value]) => value !== null));
  // A stored secret is not sent to another server than the one it was entered for.
  const moved =
    module !== undefined &&
    (module.addresses?.some((setting) => before[setting] !== config[setting]) === true ||
      module.exposes?.(before, config) === true);
  const kept = Object.keys(secret).find((setting) => !(setting in change));
  if (moved && kept !== undefined) {
    throw new Problem("invalid_parameter", `settings.${kept}: enter it again for this server`);
  }
  return config;
}
