import { isDeepStrictEqual } from "node:util";
import type { Selectable } from "kysely";
import { newId } from "#domain/ids.ts";
import type { Clock } from "#runtime/clock.ts";
import type { Store, Tx } from "#database/contract.ts";
import type { AccountsTable } from "#database/schema/tables.ts";
import type { LoadAdapter } from "#channels/load-adapter.ts";
import { channelConfigError, channelConfigErrors } from "#channels/config-errors.ts";
import { channelLabel, noAdapter } from "#channels/catalog.ts";
import { loadAdapter } from "#channels/load-adapter.ts";
import type { FileError, UnreadableFile } from "#config/errors.ts";
import { combineErrors } from "#config/errors.ts";
import type { FileWorkspace } from "#config/workspace.ts";
import type { FileChannel } from "#config/errors.ts";
import type { Secrets } from "#runtime/secrets.ts";
import type { SplitSettings, StoredSettings } from "./account-settings.ts";
import type { AdminChange } from "#admin/audit.ts";
import { fileActor, recordChange } from "#admin/audit.ts";
import { setPausedChannels } from "./pausing.ts";
import { identityHash, openedSettings, sealedSettings, splitSettings } from "./account-settings.ts";

export interface AccountDependencies {
  readonly store: Store;
  readonly clock: Clock;
  readonly secrets: Secrets;
  readonly load: LoadAdapter;
}

/**
 * Creates and updates the accounts that the configuration file declares for a workspace, by name. An account that the
 * file no longer names is disabled; its conversations stay. Throws an Error that names the line of an invalid setting.
 */
export async function provisionAccounts(
  { store, clock, secrets, load }: AccountDependencies,
  workspaceId: string,
  { channels: declared, pausedChannels }: Pick<FileWorkspace, "channels" | "pausedChannels">,
): Promise<void> {
  const prepared = await Promise.all(declared.map((channel) => prepare(load, channel)));
  await store.write(async (tx) => {
    const known = await tx.selectFrom("accounts").selectAll().where("workspace_id", "=", workspaceId).execute();
    for (const { id, name, managed_by, enabled } of known) {
      if (managed_by !== "file" || enabled === 0 || declared.some((each) => each.name === name)) continue;
      await disableAccount(tx, id);
      await record(tx, clock, { workspaceId, action: "channel_removed", subject: name });
    }
    for (const each of prepared) {
      await requireUnused(tx, each);
      const { name } = each.declared;
      await provisionAccount(
        tx,
        { clock, secrets },
        workspaceId,
        each,
        known.find((row) => row.name === name),
      );
    }
    const own = { workspaceId, owner: "file", hasChats: pausedChannels !== undefined } as const;
    await setPausedChannels(tx, own, pausedChannels ?? [], { by: fileActor, now: clock.now() });
  });
}

type Recorded = Pick<AdminChange, "workspaceId" | "action" | "subject" | "to">;
const record = (tx: Tx, clock: Clock, change: Recorded): Promise<void> =>
  recordChange(tx, { ...change, by: fileActor, now: clock.now() });

const disableAccount = (tx: Tx, id: string) =>
  tx
    .updateTable("accounts")
    .set((eb) => ({ enabled: 0, revision: eb("revision", "+", 1) }))
    .where("id", "=", id)
    .execute();

async function provisionAccount(
  tx: Tx,
  { clock, secrets }: Pick<AccountDependencies, "clock" | "secrets">,
  workspaceId: string,
  { declared: { name, channel, enabled, errorAt }, settings }: Prepared,
  found: Selectable<AccountsTable> | undefined,
): Promise<void> {
  if (found !== undefined && (found.managed_by !== "file" || found.channel !== channel)) {
    throw errorAt("name", `there is another account named ${name} in this workspace: choose another name`);
  }
  const row = { ...sealedSettings(secrets, settings), enabled: enabled ? (1 as const) : (0 as const) };
  if (found === undefined) {
    const now = clock.now();
    await tx
      .insertInto("accounts")
      .values({
        id: newId("acc", now),
        workspace_id: workspaceId,
        channel,
        name,
        managed_by: "file",
        created_at: now,
        ...row,
      })
      .execute();
    await record(tx, clock, { workspaceId, action: "channel_added", subject: name, to: channelLabel(channel) });
    return;
  }
  if (found.enabled === row.enabled && isAsStored(secrets, found, settings)) return;
  await tx
    .updateTable("accounts")
    .set({ ...row, revision: found.revision + 1 })
    .where("id", "=", found.id)
    .execute();
  await record(tx, clock, { workspaceId, action: "channel_changed", subject: name, to: enabled ? null : "disabled" });
}

/** Encrypting a secret again changes its bytes, so the secrets are compared. */
function isAsStored(secrets: Secrets, stored: StoredSettings, settings: SplitSettings): boolean {
  try {
    return isDeepStrictEqual(openedSettings(secrets, stored), { ...settings.open, ...settings.secret });
  } catch {
    // They were encrypted with another secret of the installation.
    return false;
  }
}

/** Throws all errors of {@link accountErrors} as one. */
export async function requireAccounts(load: LoadAdapter, workspaces: readonly FileWorkspace[]): Promise<void> {
  const error = combineErrors((await accountErrors(load, workspaces)).map((each) => each.error));
  if (error !== undefined) throw error;
}

/** Adds the errors that only the adapters of the channels can find. */
export async function withAccounts(error: UnreadableFile): Promise<FileError> {
  const accounts = await accountErrors(loadAdapter, [{ name: "", channels: error.channels }]);
  // An adapter must not report a line again, such as that of a missing variable.
  const reportedLines = new Set(error.errors.map(({ line }) => line));
  const more = accounts
    .map((each) => each.error)
    .filter(({ errors }) => errors.every(({ line }) => !reportedLines.has(line)));
  return combineErrors([error, ...more]) ?? error;
}

export interface AccountError {
  readonly channel: FileChannel;
  readonly error: FileError;
}

/**
 * The errors of the file's channels: settings that the adapter refuses, and channels that use the same account of a
 * platform. Two channels of one account would each get a part of the messages and answer for the other company.
 */
export async function accountErrors(
  load: LoadAdapter,
  workspaces: readonly Pick<FileWorkspace, "name" | "channels">[],
): Promise<readonly AccountError[]> {
  const taken = new Map<string, string>();
  const found: AccountError[] = [];
  for (const { name: workspace, channels } of workspaces) {
    for (const channel of channels) {
      const report = (setting: string | undefined, message: string): void =>
        void found.push({ channel, error: channel.errorAt(setting, message) });
      const module = await load(channel.channel, channel.config);
      if (module === undefined) {
        const { setting, message } = noAdapter(channel.channel);
        report(setting, message);
        continue;
      }
      const wrong = channelConfigErrors(module, channel.config);
      for (const { setting, message } of wrong) report(setting, message);
      if (module.identity === undefined || wrong.length > 0 || !channel.enabled) continue;
      const identity = module.identity(channel.config);
      const key = `${channel.channel}\n${identity.key}`;
      const other = taken.get(key);
      if (other !== undefined) {
        report(
          identity.setting,
          `the account ${channel.name} uses ${identity.name}, and so does ${other}: give each its own, or remove one of them`,
        );
      }
      taken.set(key, `${channel.name} of the workspace ${workspace}`);
    }
  }
  return found;
}

/** Throws if the adapter's schema refuses the settings. */
async function prepare(load: LoadAdapter, declared: FileChannel) {
  const { channel, config, errorAt } = declared;
  const module = await load(channel, config);
  if (module === undefined) {
    const { setting, message } = noAdapter(channel);
    throw errorAt(setting, message);
  }
  const wrong = channelConfigError(module, config);
  if (wrong !== undefined) throw errorAt(wrong.setting, wrong.message);
  return { declared, module, settings: splitSettings(module, config), identity: identityHash(channel, module, config) };
}

/** An account of the dashboard may use the same bot. Two accounts would take its messages from each other. */
async function requireUnused(tx: Tx, { declared, module, identity }: Prepared): Promise<void> {
  if (identity === null || !declared.enabled) return;
  const other = await tx
    .selectFrom("accounts")
    .innerJoin("workspaces", "workspaces.id", "accounts.workspace_id")
    .select(["accounts.name", "workspaces.name as workspace"])
    .where("identity", "=", identity)
    .executeTakeFirst();
  if (other === undefined) return;
  const of = module.identity?.(declared.config);
  throw declared.errorAt(
    of?.setting,
    `the account ${declared.name} uses ${of?.name ?? "the same account of the platform"}, and so does ${other.name} of the workspace ${other.workspace}, which was connected in the dashboard: remove one of them`,
  );
}

type Prepared = Awaited<ReturnType<typeof prepare>>;
