import { newId } from "#domain/ids.ts";
import type { Clock } from "#runtime/clock.ts";
import type { Store } from "#database/contract.ts";
import type { LoadAdapter } from "#channels/load-adapter.ts";
import { channelConfigError, channelConfigErrors } from "#channels/config-errors.ts";
import { loadAdapter } from "#channels/load-adapter.ts";
import type { FileError, UnreadableFile } from "#config/errors.ts";
import { combineErrors } from "#config/errors.ts";
import type { FileWorkspace } from "#config/file.ts";
import type { FileChannel } from "#config/errors.ts";
import type { Secrets } from "#runtime/secrets.ts";

export interface AccountDependencies {
  readonly store: Store;
  readonly clock: Clock;
  readonly secrets: Secrets;
  readonly load: LoadAdapter;
}

/**
 * Makes the accounts that the configuration file declares for a workspace, by name, and gives them its settings. One
 * that the file does not name any more is disabled: its conversations stay. Throws an Error that names the line of what
 * cannot be used.
 */
export async function provisionAccounts(
  { store, clock, secrets, load }: AccountDependencies,
  workspaceId: string,
  declared: readonly FileChannel[],
): Promise<void> {
  const wanted = await Promise.all(declared.map(async (channel) => ({ ...channel, ...(await split(load, channel)) })));
  await store.write(async (tx) => {
    const known = await tx.selectFrom("accounts").selectAll().where("workspace_id", "=", workspaceId).execute();
    for (const { id, name, managed_by } of known) {
      if (managed_by !== "file" || wanted.some((each) => each.name === name)) continue;
      await tx.updateTable("accounts").set({ enabled: 0 }).where("id", "=", id).execute();
    }
    for (const each of wanted) {
      const found = known.find(({ name }) => name === each.name);
      if (found !== undefined && (found.managed_by !== "file" || found.channel !== each.channel)) {
        throw each.mistake(
          "name",
          `there is another account named ${each.name} in this workspace: choose another name`,
        );
      }
      const sealed = Object.keys(each.secret).length === 0 ? null : secrets.seal(JSON.stringify(each.secret));
      const row = {
        config: JSON.stringify(each.open),
        credentials: sealed,
        enabled: each.enabled ? (1 as const) : (0 as const),
      };
      if (found === undefined) {
        await tx
          .insertInto("accounts")
          .values({
            id: newId("acc", clock.now()),
            workspace_id: workspaceId,
            channel: each.channel,
            name: each.name,
            managed_by: "file",
            created_at: clock.now(),
            ...row,
          })
          .execute();
      } else {
        await tx.updateTable("accounts").set(row).where("id", "=", found.id).execute();
      }
    }
  });
}

/** Throws one error with all that {@link accountErrors} finds. */
export async function requireAccounts(load: LoadAdapter, workspaces: readonly FileWorkspace[]): Promise<void> {
  const error = combineErrors((await accountErrors(load, workspaces)).map((each) => each.error));
  if (error !== undefined) throw error;
}

/** All that is wrong with a file, also what only the adapters of its accounts can tell. */
export async function withAccounts(error: UnreadableFile): Promise<FileError> {
  const accounts = await accountErrors(loadAdapter, [{ name: "", channels: error.channels }]);
  // What follows from a mistake that is told already, such as a variable that is missing, is none of its own.
  const told = new Set(error.mistakes.map(({ line }) => line));
  const more = accounts
    .map((each) => each.error)
    .filter(({ mistakes }) => mistakes.every(({ line }) => !told.has(line)));
  return combineErrors([error, ...more]) ?? error;
}

export interface AccountError {
  readonly channel: FileChannel;
  readonly error: FileError;
}

/**
 * What is wrong with the accounts of the file, one for each setting: what their platform's adapter does not take, and
 * accounts that take the same thing of a platform for themselves: each would get a part of what customers write, and answer
 * it for the other's company.
 */
export async function accountErrors(
  load: LoadAdapter,
  workspaces: readonly Pick<FileWorkspace, "name" | "channels">[],
): Promise<readonly AccountError[]> {
  const taken = new Map<string, string>();
  const found: AccountError[] = [];
  for (const { name: workspace, channels } of workspaces) {
    for (const channel of channels) {
      const mistake = (setting: string | undefined, message: string): void =>
        void found.push({ channel, error: channel.mistake(setting, message) });
      const module = await load(channel.channel);
      if (module === undefined) {
        mistake("channel", `this version connects to no ${channel.channel}`);
        continue;
      }
      const wrong = channelConfigErrors(module, channel.config);
      for (const { setting, message } of wrong) mistake(setting, message);
      if (module.identity === undefined || wrong.length > 0 || !channel.enabled) continue;
      const identity = module.identity(channel.config);
      const key = `${channel.channel}\n${identity.key}`;
      const other = taken.get(key);
      if (other !== undefined) {
        mistake(
          identity.setting,
          `the account ${channel.name} is of ${identity.name}, and so is ${other}: give each its own, or take one of them out`,
        );
      }
      taken.set(key, `${channel.name} of the workspace ${workspace}`);
    }
  }
  return found;
}

/** The configuration, and apart from it what is stored encrypted, once the adapter's schema has taken both. */
async function split(load: LoadAdapter, { channel, config, mistake }: FileChannel) {
  const loading = load(channel);
  if (loading === undefined) throw mistake("channel", `this version connects to no ${channel}`);
  const module = await loading;
  const wrong = channelConfigError(module, config);
  if (wrong !== undefined) throw mistake(wrong.setting, wrong.message);
  const isSecret = ([key]: readonly [string, unknown]): boolean => module.secrets.includes(key);
  const entries = Object.entries(config);
  return {
    open: Object.fromEntries(entries.filter((entry) => !isSecret(entry))),
    secret: Object.fromEntries(entries.filter(isSecret)),
  };
}
