import type { OpenAccount } from "#channel-host/open-account.ts";
import { createAccountStatus } from "#channel-host/account-status.ts";
import { createChannels } from "#channel-host/registry.ts";
import { loadAdapter } from "#channels/load-adapter.ts";
import type { Config } from "#config/environment.ts";
import { createWorkspaces } from "#database/queries/workspaces.ts";
import { openFiles } from "#files/open.ts";
import { createMetrics } from "#metrics/metrics.ts";
import { createInProcessFanout } from "#queue/signals/in-process.ts";
import { createSecrets, readOnlySecret } from "#runtime/secrets.ts";
import { version } from "#runtime/version.ts";
import type { ServicesOptions } from "../services.ts";
import { diskOf, openServices } from "../services.ts";

export interface ChannelCheck {
  readonly name: string;
  readonly ok: boolean;
  /** The account's name on its platform, or the fault and its remedy. */
  readonly detail: string;
}

/** Returns the place where messages' files are stored, or throws an Error that names the remedy. Needs no database. */
export function checkFiles(config: Config, { clock }: Pick<ServicesOptions, "clock">): Promise<string> {
  const secrets = createSecrets(readOnlySecret(config));
  const { dataDir, publicUrl } = config;
  return openFiles({ config: config.files, dataDir, publicUrl, secrets, clock, disk: diskOf(config) }).check(
    AbortSignal.timeout(channelCheckMs),
  );
}

const channelCheckMs = 10_000;

const nothingReceived = (): never => {
  throw new Error("nothing is received while the channels are checked");
};

/**
 * Asks the platform of every account (or of those that are `wanted`) whether it works. The schema must be up to date.
 * `passing`: the database is thrown away afterwards.
 */
export async function checkChannels(
  config: Config,
  { clock, log }: ServicesOptions,
  wanted: (accountId: string) => boolean = () => true,
  passing = false,
): Promise<readonly ChannelCheck[]> {
  const core = await openServices(config, { clock, log });
  const { store, secrets } = core;
  const fanout = createInProcessFanout(log);
  const channels = createChannels({
    store,
    clock,
    log,
    fanout,
    secrets,
    workspaces: createWorkspaces(store, clock),
    engine: nothingReceived,
    desk: nothingReceived,
    load: loadAdapter,
    metrics: createMetrics(version, clock),
    status: createAccountStatus({ store, clock }),
    files: core.files,
    publicUrl: config.publicUrl,
    guardedLookup: core.guardedLookup,
    passing,
  });
  try {
    const accounts = await store.read
      .selectFrom("accounts")
      .select(["id", "name", "channel"])
      .where("enabled", "=", 1)
      .where("managed_by", "!=", "builtin")
      .orderBy("name")
      .execute();
    const checked = await Promise.all(
      accounts.filter(({ id }) => wanted(id)).map((account) => checkAccount(account, () => channels.open(account.id))),
    );
    return checked.flat();
  } finally {
    await channels.close();
    await fanout.close();
    await core.close();
  }
}

/** Asks the platform of one account whether it works. `open` rejects if its adapter cannot be created. */
export async function checkAccount(
  { name, channel }: { readonly name: string; readonly channel: string },
  open: () => Promise<OpenAccount | undefined>,
): Promise<readonly ChannelCheck[]> {
  let opened: OpenAccount | undefined;
  const made = await runCheck(`channel ${name}`, async () => {
    opened = await open();
    return (await opened?.adapter.check?.(AbortSignal.timeout(channelCheckMs))) ?? channel;
  });
  const desk = opened?.adapter.desk;
  if (desk === undefined) return [made];
  return [made, await runCheck(`desk ${name}`, () => desk.check(AbortSignal.timeout(channelCheckMs)))];
}

export async function runCheck(name: string, run: () => Promise<string>): Promise<ChannelCheck> {
  try {
    return { name, ok: true, detail: await run() };
  } catch (error) {
    return { name, ok: false, detail: error instanceof Error ? error.message : "unknown failure" };
  }
}
