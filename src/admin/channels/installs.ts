import { Buffer } from "node:buffer";
import { hash, randomBytes, timingSafeEqual } from "node:crypto";
import Type from "typebox";
import type { TObject } from "typebox";
import { channelLabel } from "#channels/catalog.ts";
import { channelConfigErrors } from "#channels/config-errors.ts";
import type { AdapterModule, ChannelHost } from "#channels/contract.ts";
import type { AppInstall, Installation } from "#channels/install.ts";
import { InstallRefusal } from "#channels/install.ts";
import type { Reader, Tx } from "#database/contract.ts";
import type { StoredInstallation } from "#database/queries/accounts/installations.ts";
import { installationName, installationOf } from "#database/queries/accounts/installations.ts";
import { settingsIn } from "#database/queries/workspaces.ts";
import type { Actor, Channel } from "#domain/conversation/message.ts";
import { Problem } from "#domain/problem.ts";
import type { Log } from "#runtime/log.ts";
import type { Secrets } from "#runtime/secrets.ts";
import type { ChannelSettings } from "./account-settings.ts";
import { identityHash, openedSettings, sealedSettings, splitSettings } from "./account-settings.ts";
import type { AccountAdmin } from "./accounts.ts";
import { accountIn, changeAccount, connectAccount, invalidSettings, requireOwn } from "./accounts.ts";
import { requirePublicServers } from "./server-addresses.ts";

/** Time for the administrator at the platform. */
const stateMs = 10 * 60_000;
const statePattern = /^[A-Za-z0-9_-]{43}$/;

/** The administrator, in the browser that begins and ends the installation. */
export interface Installer {
  readonly workspaceId: string;
  readonly agentId: string;
  /** The token of the session. */
  readonly session: string;
  readonly by: Actor;
}

export interface InstallAdmin extends AccountAdmin {
  /** The address of this server, without a slash at the end. */
  readonly publicUrl: string;
}

/** The address that the platform leads the browser back to. */
export const redirectUrlOf = (publicUrl: string, channel: Channel): string =>
  `${publicUrl}/dashboard/channels/${channel}/installed`;

/** The settings that are entered before an installation. */
export function installSchema({ config }: Pick<AdapterModule, "config">, install: AppInstall): TObject {
  const properties = install.settings.flatMap((name) => {
    const property = config.properties[name];
    if (property === undefined) return [];
    // A copy is not optional.
    return [
      [name, install.required.includes(name) ? Type.Unsafe({ ...property, advanced: false }) : property] as const,
    ];
  });
  return Type.Object(Object.fromEntries(properties), { additionalProperties: false });
}

/** The settings of an installation that the administrator has not finished, for another try. */
export async function begunInstall(
  db: Reader,
  secrets: Pick<Secrets, "open">,
  agentId: string,
  channel: Channel,
): Promise<ChannelSettings> {
  const row = await db
    .selectFrom("channel_installs")
    .select(["config", "credentials"])
    .where("agent_id", "=", agentId)
    .where("channel", "=", channel)
    .executeTakeFirst();
  return row === undefined ? {} : openedSettings(secrets, row);
}

/** Stores the app's settings, and returns the address of the platform's page. */
export async function beginInstall(
  admin: InstallAdmin,
  { agentId, session }: Installer,
  given: { readonly channel: Channel; readonly settings: ChannelSettings },
): Promise<string> {
  const { store, secrets } = admin;
  const { channel } = given;
  const { module, install } = await installOf(admin, channel);
  const before = await begunInstall(store.read, secrets, agentId, channel);
  const settings = withKeptSecrets(module, install, before, given.settings);
  const errors = channelConfigErrors({ config: installSchema(module, install) }, settings);
  if (errors.length > 0) throw invalidSettings(errors);
  await requirePublicServers(admin.allowPrivate, module, settings);
  const stored = sealedSettings(secrets, splitSettings(module, settings));
  const state = await storeState(admin, { agentId, session, channel, accountId: null, ...stored });
  return install.consentUrl(settings, { state, redirectUrl: redirectUrlOf(admin.publicUrl, channel) });
}

/** The same for an account that was installed before, with its own settings. */
export async function beginAgain(
  admin: InstallAdmin,
  { workspaceId, agentId, session }: Installer,
  accountId: string,
): Promise<string> {
  const row = await accountIn(admin.store.read, workspaceId, accountId);
  requireOwn(row);
  const { channel } = row;
  const { module, install } = await installOf(admin, channel);
  const settings = openedSettings(admin.secrets, row);
  const errors = channelConfigErrors({ config: installSchema(module, install) }, pick(settings, install.settings));
  if (errors.length > 0) throw invalidSettings(errors);
  await requirePublicServers(admin.allowPrivate, module, settings);
  const none = { config: "{}", credentials: null };
  const state = await storeState(admin, { agentId, session, channel, accountId, ...none });
  const installed = await installationOf(admin.store.read, accountId);
  return install.consentUrl(settings, {
    state,
    redirectUrl: redirectUrlOf(admin.publicUrl, channel),
    ...(installed === undefined ? {} : { before: installed.details }),
  });
}

/** The values that the platform's page leads back with. */
export interface Returned {
  readonly channel: Channel;
  readonly state: string | undefined;
  readonly code: string | undefined;
  readonly error: string | undefined;
}

export interface InstallCall {
  readonly lookup: NonNullable<ChannelHost["lookup"]>;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/**
 * Exchanges the code, and connects the account or gives it the new token. Returns its id. Throws InstallRefusal, or
 * Problem, with the fix; nothing is stored then.
 */
export async function finishInstall(
  admin: InstallAdmin,
  installer: Installer,
  { channel, state, code, error }: Returned,
  call: InstallCall,
): Promise<string> {
  const { secrets } = admin;
  const { module, install } = await installOf(admin, channel);
  const begun = await takeState(admin, installer, channel, state);
  if (error !== undefined) throw new InstallRefusal(install.refusal(error));
  if (code === undefined || code.length > 1_000)
    throw new InstallRefusal(`${channelLabel(channel)} sent no code. ${again}`);
  const account =
    begun.account_id === null ? undefined : await accountIn(admin.store.read, installer.workspaceId, begun.account_id);
  const settings = openedSettings(secrets, account ?? begun);
  await requirePublicServers(admin.allowPrivate, module, settings);
  const redirectUrl = redirectUrlOf(admin.publicUrl, channel);
  const installation = await install.exchange(settings, { ...call, redirectUrl, code });
  if (installation.missing !== null) throw new InstallRefusal(installation.missing);
  const config = { ...settings, ...installation.settings };
  const target = await installedAccount(admin, channel, installation.key, identityHash(channel, module, config));
  if (account !== undefined && target?.id !== account.id) {
    throw new InstallRefusal(
      `You chose ${installation.name}, but the channel ${account.name} is connected elsewhere. Install again and choose the same workspace, or connect ${installation.name} as a new channel.`,
    );
  }
  const store = (tx: Tx, id: string): Promise<void> =>
    storeInstallation(tx, admin, installer, channel, id, installation);
  if (target === undefined) {
    const name = await freeName(admin.store.read, installer.workspaceId, installation);
    return connectAccount(admin, { ...installer, channel, name, settings: config, store });
  }
  if (target.workspace_id !== installer.workspaceId) throw new InstallRefusal(usedElsewhere(installation));
  const { desk } = await settingsIn(admin.store.read, installer.workspaceId);
  if (desk?.account === target.name && installation.missingForDesk !== null) {
    throw new InstallRefusal(
      `The agents' desk is on this channel. ${installation.missingForDesk} Set "Install for the agents' desk" to Yes.`,
    );
  }
  const kept = openedSettings(secrets, target);
  await changeAccount(admin, { ...installer, id: target.id, settings: { ...kept, ...config }, store });
  return target.id;
}

const again = "Begin the installation again.";

const usedElsewhere = ({ name }: Installation): string =>
  `This app is already connected in ${name}, by another workspace of this installation. Remove that channel first, or install another app.`;

async function installOf(
  { load }: Pick<InstallAdmin, "load">,
  channel: Channel,
): Promise<{ readonly module: AdapterModule; readonly install: AppInstall }> {
  const module = await load(channel, {});
  if (module?.install === undefined)
    throw new Problem("not_found", "This channel is not connected by an installation.");
  return { module, install: module.install };
}

const pick = (settings: ChannelSettings, names: readonly string[]): ChannelSettings =>
  Object.fromEntries(Object.entries(settings).filter(([name]) => names.includes(name)));

/** Secrets that were entered for the same app and the same server need not be entered again. */
function withKeptSecrets(
  module: AdapterModule,
  { required }: AppInstall,
  before: ChannelSettings,
  given: ChannelSettings,
): ChannelSettings {
  const names = [...required, ...(module.addresses ?? [])].filter((name) => !module.secrets.includes(name));
  const isSame = names.every((name) => before[name] === given[name]);
  const settings = isSame ? { ...splitSettings(module, before).secret, ...given } : given;
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== null));
}

interface NewState {
  readonly agentId: string;
  readonly session: string;
  readonly channel: Channel;
  readonly accountId: string | null;
  readonly config: string;
  readonly credentials: string | null;
}

/** Replaces an earlier installation of this administrator. Returns the state. */
async function storeState({ store, clock }: InstallAdmin, given: NewState): Promise<string> {
  const { agentId, session, channel, accountId, config, credentials } = given;
  const state = randomBytes(32).toString("base64url");
  await store.write(async (tx) => {
    await deleteInstall(tx, agentId, channel);
    await tx
      .insertInto("channel_installs")
      .values({
        agent_id: agentId,
        channel,
        account_id: accountId,
        config,
        credentials,
        state_hash: hash("sha256", state),
        session_hash: hash("sha256", session),
        expires_at: clock.now() + stateMs,
      })
      .execute();
  });
  return state;
}

const deleteInstall = (tx: Tx, agentId: string, channel: Channel) =>
  tx.deleteFrom("channel_installs").where("agent_id", "=", agentId).where("channel", "=", channel).execute();

/** The installation that this browser has begun. Its state counts once. */
function takeState(
  { store, clock }: InstallAdmin,
  { agentId, session }: Installer,
  channel: Channel,
  state: string | undefined,
) {
  const unknown = `This installation was finished or begun anew before, or did not begin in your account. ${again}`;
  if (state === undefined || !statePattern.test(state)) throw new InstallRefusal(unknown);
  const stateHash = hash("sha256", state);
  return store.write(async (tx) => {
    const row = await tx
      .selectFrom("channel_installs")
      .selectAll()
      .where("state_hash", "=", stateHash)
      .where("agent_id", "=", agentId)
      .where("channel", "=", channel)
      .executeTakeFirst();
    if (row === undefined) throw new InstallRefusal(unknown);
    if (!timingSafeEqual(Buffer.from(row.session_hash, "hex"), hash("sha256", session, "buffer"))) {
      throw new InstallRefusal(`This installation began in another browser, or before you signed in again. ${again}`);
    }
    if (row.expires_at <= clock.now())
      throw new InstallRefusal(`This installation took longer than ten minutes. ${again}`);
    const { numUpdatedRows } = await tx
      .updateTable("channel_installs")
      .set({ state_hash: null })
      .where("state_hash", "=", stateHash)
      .executeTakeFirstOrThrow();
    // Another request may have used it since this transaction read it.
    if (numUpdatedRows === 0n) throw new InstallRefusal(unknown);
    return row;
  });
}

/** The account of this installation, in whichever workspace: connected by an installation, or by entering its token. */
async function installedAccount({ store }: InstallAdmin, channel: Channel, key: string, identity: string | null) {
  const rows = await store.read
    .selectFrom("accounts")
    .leftJoin("account_state", (join) =>
      join.onRef("account_state.account_id", "=", "accounts.id").on("account_state.name", "=", installationName),
    )
    .selectAll("accounts")
    .select("account_state.value")
    .where("accounts.channel", "=", channel)
    .where("accounts.managed_by", "=", "dashboard")
    .where("accounts.removed_at", "is", null)
    .execute();
  const keyOf = (value: string | null): unknown =>
    value === null ? undefined : (JSON.parse(value) as StoredInstallation).key;
  return (
    rows.find(({ value }) => keyOf(value) === key) ?? rows.find((row) => identity !== null && row.identity === identity)
  );
}

/** In the transaction of the account. */
async function storeInstallation(
  tx: Tx,
  { clock }: InstallAdmin,
  { agentId }: Installer,
  channel: Channel,
  accountId: string,
  { key, name, details }: Installation,
): Promise<void> {
  const stored: StoredInstallation = { key, name, details };
  await deleteInstall(tx, agentId, channel);
  await tx
    .deleteFrom("account_state")
    .where("account_id", "=", accountId)
    .where("name", "=", installationName)
    .execute();
  await tx
    .insertInto("account_state")
    .values({
      account_id: accountId,
      name: installationName,
      value: JSON.stringify(stored),
      updated_at: clock.now(),
      expires_at: null,
    })
    .execute();
}

/** The company's name on the platform, made unique. */
async function freeName(db: Reader, workspaceId: string, { name, key }: Installation): Promise<string> {
  const rows = await db.selectFrom("accounts").select("name").where("workspace_id", "=", workspaceId).execute();
  const wanted = name.trim().slice(0, 60);
  const isTaken = (tried: string): boolean => rows.some((row) => row.name === tried);
  return wanted === "" || isTaken(wanted) ? `${wanted} (${key})`.trim() : wanted;
}
