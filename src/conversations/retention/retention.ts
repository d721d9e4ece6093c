import { systemActor } from "#domain/conversation/message.ts";
import { retentionMs, storedSettings } from "#domain/workspace/settings.ts";
import { chunks } from "#database/queries/customers.ts";
import { lockConversation } from "#database/queries/conversations.ts";
import { deleteEventsOf } from "#database/queries/webhooks.ts";
import type { Effects } from "#conversations/work/effects.ts";
import type { Clock } from "#runtime/clock.ts";
import type { ConversationSearch } from "#database/search/contract.ts";
import type { Reader, Store, Tx } from "#database/contract.ts";
import type { Workspace } from "#database/queries/workspaces.ts";
import { deleteOwned, purgePlan } from "./purge-plan.ts";
import { removeConversation } from "./remove-conversation.ts";

const pageSize = 500;

export interface RetentionDependencies {
  readonly store: Store;
  readonly clock: Clock;
  readonly search: ConversationSearch;
  readonly publishEffects: (effects: Effects) => void;
}

export async function workspacesWithRetention(db: Reader): Promise<readonly Workspace[]> {
  const rows = await db
    .selectFrom("workspaces")
    .select(["id", "name", "plan", "settings"])
    .where("deleted_at", "is", null)
    .execute();
  return rows.map((row) => ({
    ...row,
    settings: storedSettings(row.settings),
  }));
}

const endOf = ({ plan, settings }: Workspace, now: number): number => now - retentionMs(plan, settings);

interface ListCursor {
  readonly started_at: number;
  readonly id: string;
}

/**
 * Deletes conversations whose last message is too old. A last message is never older than the start of its conversation,
 * so the list's index by start finds all candidates.
 */
export async function expireConversations(
  { store, clock, search, publishEffects }: RetentionDependencies,
  workspaces: readonly Workspace[],
  signal: AbortSignal,
): Promise<void> {
  for (const workspace of workspaces) {
    const end = endOf(workspace, clock.now());
    for (let after: ListCursor | undefined; ;) {
      const page = await begunBefore(store.read, workspace.id, end, after);
      const ids = page.filter((row) => row.last_message_at <= end).map(({ id }) => id);
      for (const some of chunks(ids, purgePlan.conversation.batch)) {
        signal.throwIfAborted();
        const effects = await store.write(async (tx) => {
          const done: Effects[] = [];
          for (const id of some) {
            const gone = await expire(tx, search, workspace, id, clock.now());
            if (gone !== null) done.push(gone);
          }
          return done;
        });
        for (const each of effects) publishEffects(each);
      }
      after = page.at(-1);
      if (page.length < pageSize) break;
      signal.throwIfAborted();
    }
  }
}

function begunBefore(db: Reader, workspaceId: string, end: number, after: ListCursor | undefined) {
  let query = db
    .selectFrom("conversations")
    .select(["id", "started_at", "last_message_at"])
    .where("workspace_id", "=", workspaceId)
    .where("started_at", "<=", end);
  if (after !== undefined) {
    query = query
      .where("started_at", ">=", after.started_at)
      .where((eb) => eb.or([eb("started_at", ">", after.started_at), eb("id", ">", after.id)]));
  }
  return query.orderBy("started_at").orderBy("id").limit(pageSize).execute();
}

async function expire(
  tx: Tx,
  search: ConversationSearch,
  workspace: Workspace,
  id: string,
  now: number,
): Promise<Effects | null> {
  const row = await lockConversation(tx, workspace.id, id);
  // Checks again under the lock: a message may have arrived.
  if (row === undefined || row.last_message_at > endOf(workspace, now)) return null;
  return removeConversation(tx, search, workspace, id, systemActor("retention"), now);
}

/** Deletes contacts of the same age that have no conversation left. */
export async function expireContacts(
  store: Store,
  workspaces: readonly Workspace[],
  now: number,
  signal: AbortSignal,
): Promise<void> {
  for (const workspace of workspaces) {
    const workspaceId = workspace.id;
    const end = endOf(workspace, now);
    for (let after = ""; ;) {
      // Ids of one kind sort by creation.
      const page = await store.read
        .selectFrom("contacts")
        .select(["id", "root_id", "created_at", "updated_at"])
        .where("workspace_id", "=", workspaceId)
        .where("id", ">", after)
        .orderBy("id")
        .limit(pageSize)
        .execute();
      const old = page.filter((row) => row.created_at <= end && row.updated_at <= end);
      if (old.length > 0) await store.write((tx) => removeUnused(tx, old));
      signal.throwIfAborted();
      const last = page.at(-1);
      if (last === undefined || page.length < pageSize || last.created_at > end) break;
      after = last.id;
    }
  }
}

async function removeUnused(tx: Tx, rows: readonly { readonly id: string; readonly root_id: string }[]): Promise<void> {
  const used = await tx
    .selectFrom("conversations")
    .select("contact_id")
    .distinct()
    .where("contact_id", "in", [...new Set(rows.flatMap(({ id, root_id }) => [id, root_id]))])
    .execute();
  const withConversation = new Set(used.map(({ contact_id }) => contact_id));
  await removeContacts(
    tx,
    rows.filter((row) => !withConversation.has(row.id) && !withConversation.has(row.root_id)).map(({ id }) => id),
  );
}

/** Deletes contacts with their identities and events. */
export async function removeContacts(tx: Tx, ids: readonly string[]): Promise<void> {
  await deleteEventsOf(tx, ids);
  await deleteOwned(tx, "contact", ids);
}
