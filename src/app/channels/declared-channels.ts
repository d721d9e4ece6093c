import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadAdapter } from "#channels/load-adapter.ts";
import type { Config } from "#config/environment.ts";
import type { ChannelCheck } from "./checks.ts";
import { checkChannels } from "./checks.ts";
import type { Services, ServicesOptions } from "../services.ts";
import { openServices } from "../services.ts";
import type { FileWorkspace } from "#config/workspace.ts";
import type { FileChannel } from "#config/errors.ts";
import { accountErrors } from "#admin/channels/provisioning.ts";
import { provisionWorkspaces } from "#admin/workspaces/workspaces.ts";

interface Declared {
  readonly id: string;
  /** The same for the same account, wherever it is stored. */
  readonly key: string;
  /** The stored settings, secrets included, and those of the desk on the account. */
  readonly settings: string;
}

/** Replaces the id, which an account gets at its first start, in addresses. */
const unknownId = "ACCOUNT";

/**
 * Checks every account of the configuration file on its platform, with the settings in the file, also before the first
 * start. `stored`: the database has been set up. Stored data does not change: new accounts are checked in a temporary
 * database.
 */
export async function checkDeclaredChannels(
  config: Config,
  stored: boolean,
  options: ServicesOptions,
): Promise<readonly ChannelCheck[]> {
  if (config.file.workspaces.every(({ channels }) => channels.length === 0)) {
    return stored ? checkChannels(config, options) : [];
  }
  const folder = await mkdtemp(join(tmpdir(), "parley-doctor-"));
  // Models and Typesense have checks of their own.
  const { typesense: _, model: __, embedding: ___, ...rest } = config;
  const beside: Config = {
    ...rest,
    dataDir: folder,
    secret: randomBytes(32).toString("hex"),
    databaseUrl: `sqlite:${join(folder, "doctor.sqlite")}`,
  };
  // Accounts with errors are reported; the others are still checked.
  const errors = await accountErrors(loadAdapter, config.file.workspaces);
  const wrong = new Set(errors.map(({ channel }) => channel));
  const workspaces = config.file.workspaces.map((workspace) => withoutAccounts(workspace, wrong));
  const reported = errors.map(({ channel, error }) => ({
    name: `channel ${channel.name}`,
    ok: false,
    detail: error.message,
  }));
  try {
    const known = stored ? await withCore(config, options, declaredIn) : [];
    let wanted: readonly Declared[];
    try {
      wanted = await withCore(beside, options, async (core) => {
        await core.store.migrate();
        const { store, secrets } = core;
        await provisionWorkspaces({ store, secrets, clock: options.clock, load: loadAdapter }, workspaces);
        const all = await declaredIn(core);
        for (const { id, key } of all) {
          const before = known.find((each) => each.key === key);
          if (before === undefined) continue;
          // The address that the platform delivers to has this id in it.
          await store.write((tx) => tx.updateTable("accounts").set({ id: before.id }).where("id", "=", id).execute());
        }
        return all;
      });
    } catch (error) {
      return [
        ...reported,
        { name: "channels", ok: false, detail: error instanceof Error ? error.message : "unknown failure" },
      ];
    }
    const isAsStored = ({ key, settings }: Declared): boolean =>
      known.some((each) => each.key === key && each.settings === settings);
    const fresh = new Map(
      wanted
        .filter((each) => !isAsStored(each))
        .map(({ id, key }) => [
          known.find((each) => each.key === key)?.id ?? id,
          known.every((each) => each.key !== key),
        ]),
    );
    const unchanged = new Set(wanted.filter(isAsStored).map(({ key }) => key));
    const old = new Set(known.filter(({ key }) => !unchanged.has(key)).map(({ id }) => id));
    const now = stored ? await checkChannels(config, options, (id) => !old.has(id)) : [];
    const checked = fresh.size === 0 ? [] : await checkChannels(beside, options, (id) => fresh.has(id), true);
    return [...reported, ...now, ...checked.map((check) => withoutIds(check, fresh))];
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function withoutAccounts(workspace: FileWorkspace, wrong: ReadonlySet<FileChannel>): FileWorkspace {
  const channels = workspace.channels.filter((channel) => !wrong.has(channel));
  const { desk = null } = workspace;
  return { ...workspace, channels, desk: channels.some(({ name }) => name === desk?.account) ? desk : null };
}

async function withCore<T>(config: Config, options: ServicesOptions, run: (core: Services) => Promise<T>): Promise<T> {
  const core = await openServices(config, options);
  try {
    return await run(core);
  } finally {
    await core.close();
  }
}

/** The accounts of the file that are stored and in use. */
async function declaredIn({ store, secrets }: Services): Promise<readonly Declared[]> {
  const rows = await store.read
    .selectFrom("accounts")
    .innerJoin("workspaces", "workspaces.id", "accounts.workspace_id")
    .select(["accounts.id", "accounts.name", "accounts.channel", "accounts.config", "accounts.credentials"])
    .select(["workspaces.name as workspace", "workspaces.settings"])
    .where("accounts.managed_by", "=", "file")
    .where("accounts.enabled", "=", 1)
    .where("workspaces.deleted_at", "is", null)
    .execute();
  return rows.map(({ id, name, channel, config, credentials, workspace, settings }) => {
    const { desk = null } = JSON.parse(settings) as { readonly desk?: { readonly account: string } | null };
    const own = desk?.account === name ? desk : null;
    const secret = credentials === null ? null : opened(secrets, credentials);
    return {
      id,
      key: JSON.stringify([workspace, channel, name]),
      settings: JSON.stringify([sorted(JSON.parse(config)), sorted(secret === null ? null : JSON.parse(secret)), own]),
    };
  });
}

/** A value encrypted with another secret counts as changed; the file has it in the clear. */
function opened(secrets: Services["secrets"], sealed: string): string {
  try {
    return secrets.open(sealed);
  } catch {
    return "null";
  }
}

const sorted = (given: unknown): unknown =>
  typeof given === "object" && given !== null
    ? Object.entries(given).toSorted(([a], [b]) => a.localeCompare(b))
    : given;

/** An account that is not stored yet has no address yet. */
function withoutIds(check: ChannelCheck, fresh: ReadonlyMap<string, boolean>): ChannelCheck {
  let { detail } = check;
  for (const [id, isNew] of fresh) if (isNew) detail = detail.replaceAll(id, unknownId);
  if (detail === check.detail) return check;
  return { ...check, detail: `${detail} (start Parley once, and ask again: ${unknownId} is known then)` };
}
