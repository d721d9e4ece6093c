import { channelLabel } from "#channels/catalog.ts";
import { openedSettings } from "#admin/channels/account-settings.ts";
import type { ListedAccount } from "#admin/channels/list-accounts.ts";
import { accountStateOf, canPause, listAccounts } from "#admin/channels/list-accounts.ts";
import { Problem } from "#domain/problem.ts";
import type { Resources } from "#http/v1/resources.ts";
import type { Secrets } from "#runtime/secrets.ts";

type Needed = Pick<Resources, "store" | "clock" | "secrets" | "channelAccounts">;

export async function shownAccounts(resources: Needed, workspaceId: string) {
  const rows = await listAccounts(resources.store, workspaceId, resources.clock.now());
  return Promise.all(rows.map((row) => shown(resources, row)));
}

export async function shownAccount(resources: Needed, workspaceId: string, id: string) {
  const rows = await listAccounts(resources.store, workspaceId, resources.clock.now());
  const row = rows.find((each) => each.id === id);
  if (row === undefined) throw new Problem("not_found", "This workspace has no such channel.");
  return shown(resources, row);
}

async function shown({ secrets, channelAccounts }: Needed, row: ListedAccount) {
  const { hasConnection, webhookUrl, testAddress, setupFiles, canInstall, fault } =
    row.managed_by === "builtin" ? builtin : await channelAccounts.abilities(row);
  return {
    id: row.id,
    channel: row.channel,
    label: channelLabel(row.channel),
    name: row.name,
    managed_by: row.managed_by,
    state: fault === null ? accountStateOf(row, hasConnection) : ("broken" as const),
    state_since: timeOf(row.state_at),
    error: fault ?? row.error,
    error_at: timeOf(row.error_at),
    last_event_at: timeOf(row.last_event_at),
    webhook_url: webhookUrl,
    settings: JSON.parse(row.config) as Readonly<Record<string, unknown>>,
    secrets_set: secretNames(secrets, row),
    test_address:
      testAddress === null ? null : { label: testAddress.label, hint: testAddress.hint, is_email: testAddress.isEmail },
    setup_files: setupFiles,
    can_install: canInstall,
    can_pause: canPause(row),
    revision: row.revision,
    created_at: new Date(row.created_at).toISOString(),
  };
}

const builtin = {
  hasConnection: false,
  webhookUrl: null,
  testAddress: null,
  setupFiles: [],
  canInstall: false,
  fault: null,
};

const secretNames = (secrets: Secrets, { credentials }: ListedAccount): readonly string[] =>
  Object.keys(openedSettings(secrets, { config: "{}", credentials }));

const timeOf = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString());
