import { isDeepStrictEqual } from "node:util";
import type { Actor } from "#domain/conversation/message.ts";
import { Problem } from "#domain/problem.ts";
import type { AdminAction } from "#domain/workspace/admin-action.ts";
import type { Plan, WorkspaceSettings } from "#domain/workspace/settings.ts";
import { storedSettings } from "#domain/workspace/settings.ts";
import type { Clock } from "#runtime/clock.ts";
import { rescheduleWork } from "#conversations/automation/reschedule-timers.ts";
import type { Reader, Store, Tx } from "#database/contract.ts";
import { insertWork } from "#database/queries/outbox.ts";
import { lockWorkspace } from "#database/queries/workspaces.ts";
import { recordChange } from "#admin/audit.ts";
import { replaceDeskAccounts } from "#admin/channels/desk-accounts.ts";
import { declaredSettings } from "#admin/workspaces/declared-settings.ts";

export interface SettingsDependencies {
  readonly store: Store;
  readonly clock: Clock;
}

/** The workspace that is changed, and who changes it. */
export interface Edit {
  readonly workspaceId: string;
  readonly by: Actor;
}

/** A workspace's settings as they are stored, with rules that are off. Absent settings have their defaults. */
export interface StoredWorkspace {
  readonly id: string;
  readonly name: string;
  readonly plan: Plan;
  readonly stored: Partial<WorkspaceSettings>;
  /** `stored` with defaults, without rules that are off. */
  readonly settings: WorkspaceSettings;
  /** Settings that the configuration file declares, and `plan`, `pausedChannels` and `secondFactorRequired`. */
  readonly declared: ReadonlySet<string>;
}

/** An entry of the audit log. */
export interface Entry {
  readonly action: AdminAction;
  readonly subject: string;
  readonly from?: string | null;
  readonly to?: string | null;
}

export interface Change<T> {
  /** The settings that are stored from now on; absent ones have their defaults. */
  readonly stored: Partial<WorkspaceSettings>;
  /** Empty, or with equal values while `stored` is as before: nothing has changed, and nothing is stored. */
  readonly entries: readonly Entry[];
  readonly result: T;
}

/** Reads a workspace's settings without a cache. */
export async function readStored(db: Reader | Tx, workspaceId: string): Promise<StoredWorkspace> {
  const row = await db
    .selectFrom("workspaces")
    .selectAll()
    .where("id", "=", workspaceId)
    .where("deleted_at", "is", null)
    .executeTakeFirst();
  return storedWorkspace(row);
}

/** Changes settings with their audit entries and timers in one transaction. `change` may run again. */
export function changeSettings<T>(
  { store, clock }: SettingsDependencies,
  edit: Edit,
  change: (workspace: StoredWorkspace) => Change<T>,
): Promise<T> {
  return store.write((tx) => changeSettingsIn(tx, edit, clock.now(), change));
}

export async function changeSettingsIn<T>(
  tx: Tx,
  { workspaceId, by }: Edit,
  now: number,
  change: (workspace: StoredWorkspace) => Change<T>,
): Promise<T> {
  const workspace = storedWorkspace(await lockWorkspace(tx, workspaceId));
  const { stored, entries, result } = change(workspace);
  // Long values are cut in entries, so equal ones are no proof.
  const isSame = isDeepStrictEqual(JSON.parse(JSON.stringify(stored)), workspace.stored);
  if (isSame && entries.every(({ from, to }) => from === to)) return result;
  await replaceDeskAccounts(tx, workspaceId, workspace.stored, stored);
  await tx
    .updateTable("workspaces")
    .set({ settings: JSON.stringify(stored) })
    .where("id", "=", workspaceId)
    .execute();
  for (const entry of entries) await recordChange(tx, { workspaceId, by, now, ...entry });
  await insertWork(tx, [rescheduleWork(workspaceId, now)], now);
  return result;
}

/** Throws Problem managed_by_file if the configuration file declares the setting. `name`: for people. */
export function requireOwn(
  { declared }: StoredWorkspace,
  setting: keyof WorkspaceSettings | "plan" | "pausedChannels" | "secondFactorRequired",
  name: string,
): void {
  if (!declared.has(setting)) return;
  throw new Problem("managed_by_file", `${name}: managed by the configuration file. Change the file and restart.`);
}

type Row = NonNullable<Awaited<ReturnType<typeof lockWorkspace>>>;

function storedWorkspace(row: Row | undefined): StoredWorkspace {
  if (row === undefined) throw new Problem("workspace_not_found", "This workspace was deleted.");
  return {
    id: row.id,
    name: row.name,
    plan: row.plan,
    stored: JSON.parse(row.settings) as Partial<WorkspaceSettings>,
    settings: storedSettings(row.settings),
    declared: new Set(declaredSettings(row.declared_settings)),
  };
}
