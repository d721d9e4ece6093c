import { isDeepStrictEqual } from "node:util";
import { Problem } from "#domain/problem.ts";
import type { SingleSignOn } from "#domain/workspace/single-sign-on.ts";
import { fileSingleSignOnOf } from "#config/sections/single-sign-on.ts";
import type { FileSingleSignOn } from "#config/sections/single-sign-on.ts";
import type { Secrets } from "#runtime/secrets.ts";
import type { Reader, Tx } from "#database/contract.ts";
import type { Edit, Entry, SettingsDependencies, StoredWorkspace } from "#admin/settings/change.ts";
import { changeSettingsIn, readStored, requireOwn } from "#admin/settings/change.ts";
import { checkedWorkspace, forPeople } from "#admin/settings/check.ts";
import { endPasswordSessions } from "./agents-of-provider.ts";

/** The stored form: the client secret is encrypted. An unchanged one keeps its stored text. */
export function sealedProvider(secrets: Secrets, provider: SingleSignOn, known: SingleSignOn | null = null) {
  const same = known !== null && openedSecret(secrets, known) === provider.clientSecret;
  return { ...provider, clientSecret: same ? known.clientSecret : secrets.seal(provider.clientSecret) };
}

/** Undefined if it was stored with another secret of the installation. */
function openedSecret(secrets: Secrets, { clientSecret }: SingleSignOn): string | undefined {
  try {
    return secrets.open(clientSecret);
  } catch {
    return undefined;
  }
}

/** In the audit log. */
export const providerForPeople = (provider: SingleSignOn | null): string | null =>
  forPeople(provider && fileSingleSignOnOf(provider));

/** The provider without its secret. */
export async function readProvider(db: Reader, workspaceId: string) {
  const { settings, declared } = await readStored(db, workspaceId);
  const provider = settings.singleSignOn;
  return { provider: provider && fileSingleSignOnOf(provider), managed_by_file: declared.has("singleSignOn") };
}

/** An absent client secret keeps the stored one. */
export type GivenProvider = Omit<FileSingleSignOn, "client_secret"> & { readonly client_secret?: string };

export interface ProviderDependencies extends SettingsDependencies {
  readonly secrets: Secrets;
  /** Throws Problem invalid_parameter if the address is not that of a provider. */
  check(provider: SingleSignOn): Promise<void>;
}

/** Sets the workspace's provider. Asks a new provider for its description before. */
export async function changeProvider(dependencies: ProviderDependencies, edit: Edit, given: GivenProvider) {
  const { store, clock, secrets, check } = dependencies;
  const before = await readStored(store.read, edit.workspaceId);
  requireOwn(before, "singleSignOn", "single_sign_on");
  const next = checkedProvider(secrets, before, given);
  if (next.issuer !== before.settings.singleSignOn?.issuer) await check(next);
  await store.write(async (tx) => {
    const now = clock.now();
    const isNowRequired = await changeSettingsIn(tx, edit, now, (workspace) => {
      requireOwn(workspace, "singleSignOn", "single_sign_on");
      const known = workspace.settings.singleSignOn;
      const sealed = sealedProvider(secrets, checkedProvider(secrets, workspace, given), known);
      const isNewlyRequired = sealed.required && !(known?.required === true && known.issuer === sealed.issuer);
      const stored = { ...workspace.stored, singleSignOn: sealed };
      return { stored, entries: entriesOf(known, sealed), result: isNewlyRequired };
    });
    if (!isNowRequired) return;
    await requireKnownAdmin(tx, edit.workspaceId, next.issuer);
    await endPasswordSessions(tx, edit.workspaceId, now);
  });
}

/** Agents sign in with passwords and links only from now on. */
export async function removeProvider({ store, clock }: SettingsDependencies, edit: Edit): Promise<void> {
  await store.write((tx) =>
    changeSettingsIn(tx, edit, clock.now(), (workspace) => {
      requireOwn(workspace, "singleSignOn", "single_sign_on");
      const { singleSignOn: _, ...stored } = workspace.stored;
      return { stored, entries: entriesOf(workspace.settings.singleSignOn, null), result: undefined };
    }),
  );
}

function entriesOf(before: SingleSignOn | null, after: SingleSignOn | null): readonly Entry[] {
  const [from, to] = [providerForPeople(before), providerForPeople(after)];
  if (isDeepStrictEqual(before, after)) return [];
  return [{ action: from === to ? "sign_in_rotated" : "sign_in_changed", subject: "provider", from, to }];
}

function checkedProvider(secrets: Secrets, { settings }: StoredWorkspace, given: GivenProvider): SingleSignOn {
  const known = settings.singleSignOn;
  // A stored secret is not sent to another provider than the one that it was entered for.
  const isSame = known !== null && known.issuer === given.issuer && known.clientId === given.client_id;
  const secret = given.client_secret ?? (isSame ? openedSecret(secrets, known) : undefined);
  if (secret === undefined) throw new Problem("invalid_parameter", "client_secret: enter the secret of this client.");
  const { singleSignOn } = checkedWorkspace({ single_sign_on: { ...given, client_secret: secret } });
  if (singleSignOn === null || singleSignOn === undefined) throw new Error("sign-in: the checked provider was lost");
  return singleSignOn;
}

/** Throws Problem unless the provider admits an administrator: otherwise all of them could be locked out. */
async function requireKnownAdmin(tx: Tx, workspaceId: string, issuer: string): Promise<void> {
  const admins = await tx
    .selectFrom("agent_identities")
    .innerJoin("agents", "agents.id", "agent_identities.agent_id")
    .select("agent_identities.issuer")
    .where("agents.workspace_id", "=", workspaceId)
    .where("agents.role", "=", "admin")
    .where("agent_identities.refused_at", "is", null)
    .execute();
  if (admins.some((admin) => admin.issuer === issuer)) return;
  throw new Problem(
    "invalid_parameter",
    "required: an administrator has to sign in through this provider once before it can be required.",
  );
}
