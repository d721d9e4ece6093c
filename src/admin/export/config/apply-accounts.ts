import { isDeepStrictEqual } from "node:util";
import type { Actor } from "#domain/conversation/message.ts";
import { newId } from "#domain/ids.ts";
import type { Tx } from "#database/contract.ts";
import { noAdapter } from "#channels/catalog.ts";
import { loadAdapter } from "#channels/load-adapter.ts";
import type { FileChannel, FileError } from "#config/errors.ts";
import { combineErrors } from "#config/errors.ts";
import type { FileWorkspace } from "#config/workspace.ts";
import { identityHash, openedSettings, sealedSettings, splitSettings } from "#admin/channels/account-settings.ts";
import { refusedServer } from "#admin/channels/server-addresses.ts";
import { recordChange } from "#admin/audit.ts";
import type { ApplyDependencies } from "./dependencies.ts";

interface AccountsToApply {
  readonly workspaceId: string;
  readonly by: Actor;
  readonly channels: readonly FileChannel[];
  readonly now: number;
}

/** Refuses servers that only the operator may choose, as the dashboard does. Throws a FileError. */
export async function requirePublicChannels(
  { allowPrivate }: Pick<ApplyDependencies, "allowPrivate">,
  workspaces: readonly Pick<FileWorkspace, "channels">[],
): Promise<void> {
  const errors: FileError[] = [];
  for (const { channel, config, errorAt } of workspaces.flatMap(({ channels }) => channels)) {
    const module = await loadAdapter(channel, config);
    const refused = module && (await refusedServer(allowPrivate, module, config));
    if (refused !== undefined) errors.push(errorAt(refused.setting, `${refused.setting}: ${refused.message}`));
  }
  const error = combineErrors(errors);
  if (error !== undefined) throw error;
}

/** Adds and changes the dashboard's accounts, by name. Their settings have been checked. Others stay as they are. */
export async function applyAccounts(
  tx: Tx,
  { secrets }: Pick<ApplyDependencies, "secrets">,
  { workspaceId, by, channels, now }: AccountsToApply,
): Promise<void> {
  for (const { name, channel, enabled, config, errorAt } of channels) {
    const found = await tx
      .selectFrom("accounts")
      .selectAll()
      .where("workspace_id", "=", workspaceId)
      .where("name", "=", name)
      .executeTakeFirst();
    if (found !== undefined && (found.managed_by !== "dashboard" || found.channel !== channel)) {
      throw errorAt("name", `there is another account named ${name} in this workspace: choose another name`);
    }
    const module = await loadAdapter(channel, config);
    if (module === undefined) {
      const { setting, message } = noAdapter(channel);
      throw errorAt(setting, message);
    }
    const isOn = enabled ? (1 as const) : (0 as const);
    const isSame = found !== undefined && isDeepStrictEqual(openedSettings(secrets, found), config);
    if (isSame && found.enabled === isOn) continue;
    const row = {
      ...sealedSettings(secrets, splitSettings(module, config)),
      identity: identityHash(channel, module, config),
      enabled: isOn,
    };
    if (found === undefined) {
      await tx
        .insertInto("accounts")
        .values({
          id: newId("acc", now),
          workspace_id: workspaceId,
          channel,
          name,
          managed_by: "dashboard",
          created_at: now,
          ...row,
        })
        .execute();
    } else {
      await tx
        .updateTable("accounts")
        .set({ ...row, revision: found.revision + 1 })
        .where("id", "=", found.id)
        .execute();
    }
    const action = found === undefined ? "channel_added" : "channel_changed";
    await recordChange(tx, { workspaceId, by, action, subject: name, now });
  }
}
