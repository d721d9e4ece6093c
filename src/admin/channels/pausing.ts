import { isChat } from "#channels/catalog.ts";
import { hastenWaitingWork } from "#conversations/delivery/paused.ts";
import type { Selectable } from "kysely";
import type { Tx } from "#database/contract.ts";
import type { AccountsTable } from "#database/schema/tables.ts";
import { settingsIn } from "#database/queries/workspaces.ts";
import type { Actor } from "#domain/conversation/message.ts";
import { Problem } from "#domain/problem.ts";
import { recordChange } from "#admin/audit.ts";

type AccountRow = Selectable<AccountsTable>;

interface Author {
  readonly by: Actor;
  readonly now: number;
}

/** Pauses or resumes an account. Returns the lanes of work that is due now. */
export async function setPaused(
  tx: Tx,
  { id, workspace_id: workspaceId, name, paused: before }: AccountRow,
  isPaused: boolean,
  { by, now }: Author,
): Promise<readonly string[]> {
  if ((before === 1) === isPaused) return [];
  if (isPaused) await requireNoDesk(tx, { workspace_id: workspaceId, name }, "paused");
  await tx
    .updateTable("accounts")
    .set((eb) => ({ paused: isPaused ? 1 : 0, revision: eb("revision", "+", 1) }))
    .where("id", "=", id)
    .execute();
  const [from, to] = isPaused ? ["running", "paused"] : ["paused", "running"];
  await recordChange(tx, { workspaceId, by, action: "channel_changed", subject: name, from, to, now });
  return isPaused ? [] : hastenWaitingWork(tx, id, now);
}

/**
 * Pauses the named accounts of a workspace, and resumes others. `owner`: whose accounts, besides the built-in chats where
 * `hasChats`.
 */
export async function setPausedChannels(
  tx: Tx,
  { workspaceId, owner, hasChats }: { workspaceId: string; owner: "file" | "dashboard"; hasChats: boolean },
  names: readonly string[],
  author: Author,
): Promise<void> {
  const rows = await tx
    .selectFrom("accounts")
    .selectAll()
    .where("workspace_id", "=", workspaceId)
    .where("removed_at", "is", null)
    .execute();
  for (const row of rows) {
    const isOwn = row.managed_by === "builtin" ? hasChats && isChat(row.channel) : row.managed_by === owner;
    if (isOwn) await setPaused(tx, row, names.includes(row.name), author);
  }
}

/** The desk finds its account by its name. */
export async function requireNoDesk(
  tx: Tx,
  { workspace_id: id, name }: Pick<AccountRow, "workspace_id" | "name">,
  done: string,
): Promise<void> {
  const { desk } = await settingsIn(tx, id);
  if (desk?.account !== name) return;
  throw new Problem("channel_refused", `The agents' desk is on this channel. It cannot be ${done} before the desk.`);
}
