import type { Plan, WorkspaceSettings } from "#domain/workspace/settings.ts";
import { storedSettings } from "#domain/workspace/settings.ts";
import type { Clock } from "#runtime/clock.ts";
import type { Reader, Store, Tx } from "#database/contract.ts";
import { dialectOf } from "#database/dialects/dialect.ts";

export interface Workspace {
  readonly id: string;
  readonly name: string;
  readonly plan: Plan;
  readonly settings: WorkspaceSettings;
}

export interface Workspaces {
  /** Undefined when it does not exist or was deleted. */
  get(id: string): Promise<Workspace | undefined>;
}

const freshMs = 250;

/** Caches workspaces: every message needs the settings. Changes of all processes must be seen within a second. */
export function createWorkspaces(store: Store, clock: Clock): Workspaces {
  const known = new Map<string, { readonly at: number; readonly workspace: Promise<Workspace | undefined> }>();
  return {
    get(id) {
      const now = clock.now();
      const held = known.get(id);
      if (held !== undefined && now - held.at < freshMs && now >= held.at) return held.workspace;
      const workspace = readWorkspace(store.read, id);
      known.set(id, { at: now, workspace });
      // Failures and unknown ids are not cached.
      const remove = () => known.delete(id);
      workspace.then((found) => found ?? remove(), remove);
      return workspace;
    },
  };
}

/** Reads the workspace without the cache. */
export async function readWorkspace(db: Reader, id: string): Promise<Workspace | undefined> {
  const row = await db
    .selectFrom("workspaces")
    .select(["id", "name", "plan", "settings"])
    .where("id", "=", id)
    .where("deleted_at", "is", null)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  return { ...row, settings: storedSettings(row.settings) };
}

/** The settings as this transaction sees them, even while the workspace is being deleted. */
export async function settingsIn(tx: Reader | Tx, workspaceId: string): Promise<WorkspaceSettings> {
  const { settings } = await tx
    .selectFrom("workspaces")
    .select("settings")
    .where("id", "=", workspaceId)
    .executeTakeFirstOrThrow();
  return storedSettings(settings);
}

/** The workspace's row, locked until the end of the transaction, so that no change of its settings is lost. */
export async function lockWorkspace(tx: Tx, id: string) {
  const query = tx.selectFrom("workspaces").selectAll().where("id", "=", id).where("deleted_at", "is", null);
  return (dialectOf(tx) === "mysql" ? query.forUpdate() : query).executeTakeFirst();
}
