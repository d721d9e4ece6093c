import type { Reader } from "#database/contract.ts";
import type { WorkspaceSettings } from "#domain/workspace/settings.ts";
import { storedSettings } from "#domain/workspace/settings.ts";

/** The settings that the bot answers by. */
export async function workspaceSettings(db: Reader, workspaceId: string): Promise<WorkspaceSettings> {
  const { settings } = await db
    .selectFrom("workspaces")
    .select("settings")
    .where("id", "=", workspaceId)
    .executeTakeFirstOrThrow();
  return storedSettings(settings);
}
