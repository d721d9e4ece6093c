import type { Store, Tx } from "#database/contract.ts";
import { chunks } from "#database/queries/customers.ts";
import { Type } from "typebox";
import type { PayloadOf, Work, WorkDeclaration } from "#database/work.ts";
import { declareWork, workKind } from "#database/work.ts";
import { finishWork, insertWork } from "#database/queries/outbox.ts";
import { deleteEndpoint, deleteEventsOfWorkspace } from "#database/queries/webhooks.ts";
import type { ConversationSearch } from "#database/search/contract.ts";
import { systemActor } from "#domain/conversation/message.ts";
import { defaultSettings } from "#domain/workspace/settings.ts";
import { moveLane } from "#queue/lanes.ts";
import type { Clock } from "#runtime/clock.ts";
import { signOutWork } from "#conversations/agents/sign-out.ts";
import { dropAttachments } from "#conversations/attachments/attachments.ts";
import { queueRemoval } from "#conversations/attachments/remove-files.ts";
import { rescheduleWork } from "#conversations/automation/reschedule-timers.ts";
import { groupWork } from "#conversations/work/group-questions-work.ts";
import { RetryLater } from "#queue/retry-later.ts";
import { eraseLane, eraseTries } from "#conversations/work/desk-erase-work.ts";
import { removeInBatches } from "./delete-rows.ts";
import { recordDeletion } from "./deletion-record.ts";
import { purgeIndex } from "./erase-customer.ts";
import { deleteOwned, purgePlan } from "./purge-plan.ts";
import { removeConversation } from "./remove-conversation.ts";
import { removeCrawlWork, removeDocument } from "./remove-document.ts";
import { removeContacts } from "./retention.ts";

const actor = systemActor("workspace delete");
const rowsPerBatch = 500;
const responsesPerBatch = 100;

/**
 * Delay until a worker takes over. The command purges the workspace itself; the worker deletes what the command left
 * because it was interrupted, or because another process still used the workspace for a moment.
 */
const takeoverMs = 10 * 60_000;

/** Delay before the worker checks again whether the desk's messages are deleted. */
const eraseWaitMs = 30_000;

/** The deletion of what a closed workspace still has. */
const purgeKind = workKind("purge", Type.Object({ workspaceId: Type.String() }));
const purgeLane = (workspaceId: string): string => `purge:${workspaceId}`;

export function declarePurge(dependencies: PurgeDependencies): WorkDeclaration {
  return declareWork(purgeKind, {
    batch: true,
    // Unlimited: the desk's posts of a deleted workspace are removed first, however long the desk's platform is away.
    attemptsMax: Number.POSITIVE_INFINITY,
    lanesMax: 1,
    run: (rows, signal) => purge(dependencies, rows, signal),
  });
}

/** Revokes all access: keys, agents and chats no longer find the workspace. */
export async function closeWorkspace(tx: Tx, workspaceId: string, now: number): Promise<void> {
  const { numUpdatedRows } = await tx
    .updateTable("workspaces")
    // The configuration file may declare a new workspace of this name.
    .set({ deleted_at: now, declared_as: null })
    .where("id", "=", workspaceId)
    .where("deleted_at", "is", null)
    .executeTakeFirst();
  if (numUpdatedRows === 0n) return;
  const agents = await tx.selectFrom("agents").select("id").where("workspace_id", "=", workspaceId).execute();
  await insertWork(
    tx,
    [
      purgeKind.queued(purgeLane(workspaceId), { workspaceId }, now + takeoverMs),
      ...agents.map(({ id }) => signOutWork(id, now)),
    ],
    now,
  );
}

interface PurgeDependencies {
  readonly store: Store;
  readonly clock: Clock;
  readonly search: ConversationSearch;
}

/** Finishes a purge that the command did not complete. */
async function purge(
  dependencies: PurgeDependencies,
  rows: readonly Work<PayloadOf<typeof purgeKind>>[],
  signal: AbortSignal,
): Promise<void> {
  const [first] = rows;
  if (first === undefined) return;
  const { workspaceId } = first.payload;
  const { store } = dependencies;
  const isDone = await emptyWorkspace(dependencies, workspaceId, signal, () => undefined);
  if (!isDone) {
    const reason = "what the desk shows of a deleted workspace is still being taken back";
    throw new RetryLater(reason, eraseWaitMs, undefined);
  }
  await purgeIndex(dependencies);
  await store.write((tx) => finishWork(tx, rows));
}

/**
 * Deletes the data of a closed workspace in small transactions. Its id, the hashes of its keys and one audit entry stay,
 * so that clients learn that it was deleted. Can be repeated. Returns false if the account of the desk is still needed to
 * delete messages there; a worker then does that, and deletes the rest.
 */
export async function emptyWorkspace(
  dependencies: PurgeDependencies,
  workspaceId: string,
  signal: AbortSignal,
  progress: (line: string) => void,
): Promise<boolean> {
  const { store, clock } = dependencies;
  const idsIn = async (table: WorkspaceTable, limit = 10_000): Promise<readonly string[]> => {
    const rows = store.read.selectFrom(table).select("id").where("workspace_id", "=", workspaceId).limit(limit);
    return (await rows.execute()).map(({ id }) => id);
  };
  // First, so that the deletions store no events.
  for (const id of await idsIn("webhooks")) {
    signal.throwIfAborted();
    await deleteEndpoint(store, id);
  }
  await removeInBatches(
    store,
    signal,
    () => idsIn("conversations", purgePlan.conversation.batch),
    (tx, ids) => removeConversations(tx, dependencies, workspaceId, ids),
    (removed) => (removed % 1_000 === 0 ? progress(`${removed} conversations`) : undefined),
  );
  for (let [id] = await idsIn("documents", 1); id !== undefined; [id] = await idsIn("documents", 1)) {
    await removeDocument(store, id, signal);
  }
  await removeUploads(dependencies, workspaceId, signal);
  let isDeskErased = true;
  for (const id of await idsIn("accounts")) {
    if (await isErasing(store, id)) isDeskErased = false;
    else await removeAccount(store, id, signal);
  }
  await removeInBatches(
    store,
    signal,
    () => idsIn("agents", purgePlan.agent.batch),
    async (tx, ids) => {
      await removePictures(tx, ids, clock.now());
      await deleteOwned(tx, "agent", ids);
    },
  );
  for (const id of await idsIn("api_keys")) await emptyKey(store, id, signal);
  await removeInBatches(
    store,
    signal,
    () => idsIn("contacts", purgePlan.contact.batch),
    async (tx, ids) => {
      await removeContacts(tx, ids);
      await removeWork(tx, ids.map(moveLane));
    },
  );
  if (!isDeskErased) {
    await hastenPurge(store, workspaceId, clock.now());
    return false;
  }
  await removeInBatches(
    store,
    signal,
    () => idsIn("audit", purgePlan.auditEntry.batch),
    (tx, ids) => deleteOwned(tx, "auditEntry", ids),
  );
  // Events of documents and tests. Events of conversations are deleted with the conversations.
  while (await deleteEventsOfWorkspace(store, workspaceId, rowsPerBatch)) signal.throwIfAborted();
  await removeCrawlWork(store, signal);
  await store.write((tx) => emptyRow(tx, workspaceId, clock.now()));
  return true;
}

type WorkspaceTable =
  | "conversations"
  | "documents"
  | "accounts"
  | "agents"
  | "api_keys"
  | "contacts"
  | "webhooks"
  | "audit";

async function removeConversations(
  tx: Tx,
  { search, clock }: PurgeDependencies,
  workspaceId: string,
  ids: readonly string[],
): Promise<void> {
  const workspace = { id: workspaceId, name: "", plan: "business", settings: defaultSettings } as const;
  for (const id of ids) {
    const row = await tx.selectFrom("conversations").select("id").where("id", "=", id).executeTakeFirst();
    if (row !== undefined) await removeConversation(tx, search, workspace, id, actor, clock.now());
  }
}

async function removePictures(tx: Tx, agentIds: readonly string[], now: number): Promise<void> {
  const agents = tx.selectFrom("agents").select(["avatar", "workspace_id"]).where("id", "in", agentIds);
  const rows = (await agents.execute()).flatMap(({ avatar, workspace_id }) =>
    avatar === null ? [] : [{ id: avatar, workspace_id }],
  );
  await queueRemoval(tx, rows, now);
}

/** Deletes uploads of customers who never sent their message. */
async function removeUploads({ store, clock }: PurgeDependencies, workspaceId: string, signal: AbortSignal) {
  const uploads = store.read
    .selectFrom("attachments")
    .select(["id", "workspace_id"])
    .where("workspace_id", "=", workspaceId)
    .limit(rowsPerBatch);
  await removeInBatches(
    store,
    signal,
    () => uploads.execute(),
    async (tx, rows) => insertWork(tx, await dropAttachments(tx, rows, clock.now()), clock.now()),
  );
}

async function removeAccount(store: Store, id: string, signal: AbortSignal): Promise<void> {
  const events = store.read.selectFrom("inbound_events").select("id").where("account_id", "=", id).limit(rowsPerBatch);
  await removeInBatches(
    store,
    signal,
    () => events.execute(),
    async (tx, rows) => {
      const ids = rows.map((row) => row.id);
      await tx.deleteFrom("inbound_events").where("id", "in", ids).execute();
    },
  );
  await store.write((tx) => deleteOwned(tx, "account", [id]));
}

/** Whether the desk's messages are still being deleted. Work that has failed too often is not awaited. */
async function isErasing(store: Store, accountId: string): Promise<boolean> {
  const row = await store.read
    .selectFrom("outbox")
    .select("id")
    .where("lane", "=", eraseLane(accountId))
    .where("dead_at", "is", null)
    .where("attempts", "<", eraseTries)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** Deletes an API key's data. Its hash stays. */
async function emptyKey(store: Store, id: string, signal: AbortSignal): Promise<void> {
  const responses = store.read
    .selectFrom("idempotency")
    .select(["key_id", "path", "idempotency_key"])
    .where("key_id", "=", id)
    .limit(responsesPerBatch);
  await removeInBatches(
    store,
    signal,
    () => responses.execute(),
    async (tx, rows) => {
      for (const row of rows) {
        await tx
          .deleteFrom("idempotency")
          .where((eb) => eb.and(row))
          .execute();
      }
    },
  );
  await store.write(async (tx) => {
    await tx
      .deleteFrom("counters")
      .where("name", "in", [`rate:day:${id}`, `rate:minute:${id}`])
      .execute();
    await tx.deleteFrom("oauth_tokens").where("key_id", "=", id).execute();
    await tx.updateTable("api_keys").set({ name: "", hint: "" }).where("id", "=", id).execute();
  });
}

/** Lets the worker continue soon, because the command has done what it can. */
async function hastenPurge(store: Store, workspaceId: string, now: number): Promise<void> {
  await store.write((tx) =>
    tx
      .updateTable("outbox")
      .set({ due_at: now + eraseWaitMs })
      .where("lane", "=", purgeLane(workspaceId))
      .where("due_at", ">", now + eraseWaitMs)
      .execute(),
  );
}

/** Deletes the lanes' work, dead letters included. */
async function removeWork(tx: Tx, lanes: readonly string[]): Promise<void> {
  for (const some of chunks(lanes)) await tx.deleteFrom("outbox").where("lane", "in", some).execute();
}

/** Empties the workspace's own row, and records the deletion. */
async function emptyRow(tx: Tx, workspaceId: string, now: number): Promise<void> {
  await tx.deleteFrom("counters").where("name", "=", `queries:${workspaceId}`).execute();
  await removeWork(tx, [rescheduleWork(workspaceId, 0).lane, groupWork(workspaceId, 0).lane]);
  await deleteOwned(tx, "workspace", [workspaceId]);
  await tx
    .updateTable("workspaces")
    .set({ name: "", settings: "{}", identity_secret: "" })
    .where("id", "=", workspaceId)
    .execute();
  const { deleted_at: deletedAt } = await tx
    .selectFrom("workspaces")
    .select("deleted_at")
    .where("id", "=", workspaceId)
    .executeTakeFirstOrThrow();
  await recordDeletion(tx, workspaceId, actor, "the workspace", deletedAt ?? now, now);
}
