import { isDeepStrictEqual } from "node:util";
import type { Tx } from "#database/contract.ts";
import type { WorkspaceSettings } from "#domain/workspace/settings.ts";

type WithDesk = Pick<Partial<WorkspaceSettings>, "desk">;

/** An account's adapter is created with the desk that is on it, so running processes must replace it when the desk changes. */
export async function replaceDeskAccounts(
  tx: Tx,
  workspaceId: string,
  { desk: before = null }: WithDesk,
  { desk: after = null }: WithDesk,
): Promise<void> {
  if (isDeepStrictEqual(before, after)) return;
  const names = [before, after].flatMap((desk) => (desk === null ? [] : [desk.account]));
  await tx
    .updateTable("accounts")
    .set((eb) => ({ revision: eb("revision", "+", 1) }))
    .where("workspace_id", "=", workspaceId)
    .where("name", "in", names)
    .execute();
}
