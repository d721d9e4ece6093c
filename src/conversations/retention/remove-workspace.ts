import { newId } from "#domain/ids.ts";
import { systemActor } from "#domain/conversation/message.ts";
import { defaultSettings } from "#domain/workspace/settings.ts";
import { chunks } from "#database/queries/customers.ts";
import type { OutboxRow } from "#database/queries/outbox.ts";
import { finishWork, insertWork } from "#database/queries/outbox.ts";
import { dropAttachments } from "#conversations/attachments/attachments.ts";
import { RetryLater } from "#conversations/delivery/retry-later.ts";
import { eraseLane, eraseTries } from "#conversations/transaction/desk-erase-work.ts";
import { purgeIndex } from "./erase-customer.ts";
import type { Clock } from "#runtime/clock.ts";
import type { ConversationSearch } from "#database/search/contract.ts";
import type { Store, Tx } from "#database/contract.ts";
import { signOutWork } from "#conversations/agents/sign-out.ts";
import { deleteEndpoint, deleteEventsOfWorkspace } from "#database/queries/webhooks.ts";
import { moveLane } from "#queue/lanes.ts";
import { removeContacts } from "./retention.ts";
import { rescheduleWork } from "#conversations/automation/reschedule-timers.ts";
import { removeConversation } from "#conversations/agents/update.ts";

const actor = systemActor("workspace delete");
const conversationsAtOnce = 10;
const rowsAtOnce = 500;
const keptAtOnce = 100;
const partsAtOnce = 4;
/**
 * The command removes it all itself. What it leaves because it was interrupted, or because a process still knew the
 * workspace for a moment, is a worker's from then on.
 */
const takeoverMs = 10 * 60_000;

/** As long as the worker leaves the account of a desk to take back what is shown there, until it looks again. */
const eraseWaitMs = 30_000;

const lane = (workspaceId: string): string => `purge:${workspaceId}`;

/** From here on nobody gets in: keys, agents and chats find no such workspace. */
export async function closeWorkspace(tx: Tx, workspaceId: string, now: number): Promise<void> {
  const { numUpdatedRows } = await tx
    .updateTable("workspaces")
    // The configuration file can make one of the name anew.
    .set({ deleted_at: now, declared_as: null })
    .where("id", "=", workspaceId)
    .where("deleted_at", "is", null)
    .executeTakeFirst();
  if (numUpdatedRows === 0n) return;
  const agents = await tx.selectFrom("agents").select("id").where("workspace_id", "=", workspaceId).execute();
  await insertWork(
    tx,
    [
      { lane: lane(workspaceId), kind: "purge", payload: { workspaceId }, dueAt: now + takeoverMs },
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

/** The worker's part, where the command did not come to its end. */
export async function purge(
  dependencies: PurgeDependencies,
  rows: readonly OutboxRow[],
  signal: AbortSignal,
): Promise<void> {
  const { workspaceId } = JSON.parse(rows[0]?.payload ?? "{}") as { readonly workspaceId: string };
  const { store } = dependencies;
  const done = await emptyWorkspace(dependencies, workspaceId, signal, () => undefined);
  if (!done)
    throw new RetryLater(
      "what the desk shows of a deleted workspace is still being taken back",
      eraseWaitMs,
      undefined,
    );
  await purgeIndex(dependencies);
  await store.write((tx) => finishWork(tx, rows));
}

type OwnTable = "conversations" | "documents" | "accounts" | "agents" | "contacts" | "api_keys" | "webhooks";

/**
 * Removes all of a closed workspace, a few rows at a time. What stays are its id and the hashes of its keys, so that
 * they are told that it was deleted, and one audit entry that says when. Can be begun again. False: the account of its
 * desk is still needed, to take back what is shown there; the worker does that, and then the rest.
 */
export async function emptyWorkspace(
  { store, clock, search }: PurgeDependencies,
  workspaceId: string,
  signal: AbortSignal,
  progress: (line: string) => void,
): Promise<boolean> {
  const workspace = { id: workspaceId, name: "", plan: "business", settings: defaultSettings } as const;
  const of = (table: OwnTable, limit: number) =>
    store.read.selectFrom(table).select("id").where("workspace_id", "=", workspaceId).limit(limit).execute();

  for (let removed = 0; ;) {
    signal.throwIfAborted();
    const some = await of("conversations", conversationsAtOnce);
    if (some.length === 0) break;
    await store.write(async (tx) => {
      for (const { id } of some) {
        const still = await tx.selectFrom("conversations").select("id").where("id", "=", id).executeTakeFirst();
        if (still !== undefined) await removeConversation(tx, search, workspace, id, actor, clock.now());
      }
    });
    removed += some.length;
    if (removed % 1_000 === 0) progress(`${removed} conversations`);
  }
  for (;;) {
    signal.throwIfAborted();
    const some = await of("documents", 1);
    const [document] = some;
    if (document === undefined) break;
    await removeDocument(store, document.id);
  }
  // Uploads of customers who never wrote.
  for (;;) {
    signal.throwIfAborted();
    const rows = await store.read
      .selectFrom("attachments")
      .select(["id", "workspace_id"])
      .where("workspace_id", "=", workspaceId)
      .limit(rowsAtOnce)
      .execute();
    if (rows.length === 0) break;
    await store.write(async (tx) => {
      await insertWork(tx, await dropAttachments(tx, rows, clock.now()), clock.now());
    });
  }
  let isErased = true;
  for (const { id } of await of("accounts", 10_000)) {
    if (await isErasing(store, id)) {
      isErased = false;
      continue;
    }
    for (;;) {
      signal.throwIfAborted();
      const events = await store.read
        .selectFrom("inbound_events")
        .select("id")
        .where("account_id", "=", id)
        .limit(rowsAtOnce)
        .execute();
      if (events.length === 0) break;
      const ids = events.map((event) => event.id);
      await store.write((tx) => tx.deleteFrom("inbound_events").where("id", "in", ids).execute());
    }
    await store.write(async (tx) => {
      await tx.deleteFrom("connection_leases").where("account_id", "=", id).execute();
      await tx.deleteFrom("account_state").where("account_id", "=", id).execute();
      await tx.deleteFrom("accounts").where("id", "=", id).execute();
    });
  }
  for (;;) {
    signal.throwIfAborted();
    const agents = (await of("agents", rowsAtOnce)).map(({ id }) => id);
    if (agents.length === 0) break;
    await store.write(async (tx) => {
      await tx.deleteFrom("agent_tokens").where("agent_id", "in", agents).execute();
      await tx.deleteFrom("agents").where("id", "in", agents).execute();
    });
  }
  for (const { id } of await of("api_keys", 10_000)) {
    for (;;) {
      signal.throwIfAborted();
      const kept = await store.read
        .selectFrom("idempotency")
        .select(["key_id", "path", "idempotency_key"])
        .where("key_id", "=", id)
        .limit(keptAtOnce)
        .execute();
      if (kept.length === 0) break;
      await store.write(async (tx) => {
        for (const row of kept) {
          await tx
            .deleteFrom("idempotency")
            .where((eb) => eb.and(row))
            .execute();
        }
      });
    }
    await store.write(async (tx) => {
      await tx
        .deleteFrom("counters")
        .where("name", "in", [`rate:day:${id}`, `rate:minute:${id}`])
        .execute();
      await tx.updateTable("api_keys").set({ name: "", hint: "" }).where("id", "=", id).execute();
    });
  }
  for (;;) {
    signal.throwIfAborted();
    const ids = (await of("contacts", rowsAtOnce)).map(({ id }) => id);
    if (ids.length === 0) break;
    await store.write(async (tx) => {
      await removeContacts(tx, ids);
      await removeWork(tx, ids.map(moveLane));
    });
  }
  for (const { id } of await of("webhooks", 10_000)) {
    signal.throwIfAborted();
    await deleteEndpoint(store, id);
  }
  if (!isErased) {
    await hastenPurge(store, workspaceId, clock.now());
    return false;
  }
  await removeAudit(store, workspaceId, signal);
  // Of documents and tests; those of conversations went with them.
  while (await deleteEventsOfWorkspace(store, workspaceId, rowsAtOnce)) signal.throwIfAborted();
  await removeCrawling(store, signal);
  await store.write((tx) => tx.deleteFrom("rule_turns").where("workspace_id", "=", workspaceId).execute());
  await store.write(async (tx) => {
    await tx.deleteFrom("counters").where("name", "=", `queries:${workspaceId}`).execute();
    await removeWork(tx, [rescheduleWork(workspaceId, 0).lane]);
    await tx.deleteFrom("vector_models").where("workspace_id", "=", workspaceId).execute();
    // Of contacts that were gone before.
    await tx.deleteFrom("identities").where("workspace_id", "=", workspaceId).execute();
    await tx.deleteFrom("contact_merges").where("workspace_id", "=", workspaceId).execute();
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
    await tx
      .insertInto("audit")
      .values({
        id: newId("aud", clock.now()),
        workspace_id: workspaceId,
        conversation_id: null,
        action: "deleted",
        actor_type: actor.type,
        actor_id: actor.id,
        actor_name: null,
        from_value: null,
        to_value: null,
        detail: "the workspace",
        created_at: deletedAt ?? clock.now(),
      })
      .execute();
  });
  return true;
}

/** What has failed for long is not waited for. */
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

/** The command has done what it could: the worker need not wait any longer to do the rest. */
async function hastenPurge(store: Store, workspaceId: string, now: number): Promise<void> {
  await store.write((tx) =>
    tx
      .updateTable("outbox")
      .set({ due_at: now + eraseWaitMs })
      .where("lane", "=", lane(workspaceId))
      .where("due_at", ">", now + eraseWaitMs)
      .execute(),
  );
}

async function removeAudit(store: Store, workspaceId: string, signal: AbortSignal): Promise<void> {
  for (;;) {
    signal.throwIfAborted();
    const rows = await store.read
      .selectFrom("audit")
      .select("id")
      .where("workspace_id", "=", workspaceId)
      .limit(rowsAtOnce)
      .execute();
    if (rows.length === 0) return;
    const ids = rows.map(({ id }) => id);
    await store.write((tx) => tx.deleteFrom("audit").where("id", "in", ids).execute());
  }
}

/** Work that is still to be done, or was given up, with the error that tells why. */
async function removeWork(tx: Tx, lanes: readonly string[]): Promise<void> {
  for (const some of chunks(lanes)) await tx.deleteFrom("outbox").where("lane", "in", some).execute();
}

/** The crawling of websites whose documents are gone: several share a lane, which tells of none of them. */
async function removeCrawling(store: Store, signal: AbortSignal): Promise<void> {
  for (let after = 0; ;) {
    signal.throwIfAborted();
    const rows = await store.read
      .selectFrom("outbox")
      .select(["id", "payload"])
      .where("kind", "=", "crawl")
      .where("id", ">", after)
      .orderBy("id")
      .limit(rowsAtOnce)
      .execute();
    const last = rows.at(-1);
    if (last === undefined) return;
    after = last.id;
    const documentOf = new Map(
      rows.map(({ id, payload }) => [id, (JSON.parse(payload) as { readonly documentId: string }).documentId]),
    );
    const wanted = [...new Set(documentOf.values())];
    const there = await store.read.selectFrom("documents").select("id").where("id", "in", wanted).execute();
    const known = new Set(there.map(({ id }) => id));
    const gone = rows.filter(({ id }) => !known.has(documentOf.get(id) ?? "")).map(({ id }) => id);
    if (gone.length > 0) await store.write((tx) => tx.deleteFrom("outbox").where("id", "in", gone).execute());
  }
}

/** A document's bytes are large: a few parts in each transaction. */
async function removeDocument(store: Store, id: string): Promise<void> {
  // First, so that no page of a website is stored any more.
  await store.write(async (tx) => {
    await tx.deleteFrom("crawls").where("document_id", "=", id).execute();
    await tx.deleteFrom("crawl_pages").where("document_id", "=", id).execute();
    await tx.deleteFrom("outbox").where("lane", "=", `recrawl:${id}`).execute();
  });
  for (;;) {
    const parts = await store.read
      .selectFrom("document_body_parts")
      .innerJoin("document_bodies", "document_bodies.id", "body_id")
      .select(["body_id", "part"])
      .where("document_id", "=", id)
      .limit(partsAtOnce)
      .execute();
    if (parts.length === 0) break;
    await store.write(async (tx) => {
      for (const { body_id: bodyId, part } of parts) {
        await tx.deleteFrom("document_body_parts").where("body_id", "=", bodyId).where("part", "=", part).execute();
      }
    });
  }
  for (;;) {
    const found = await store.read
      .selectFrom("chunks")
      .select("id")
      .where("document_id", "=", id)
      .limit(rowsAtOnce)
      .execute();
    if (found.length === 0) break;
    for (const some of chunks(found.map((row) => row.id))) {
      await store.write(async (tx) => {
        await tx.deleteFrom("chunk_vectors").where("chunk_id", "in", some).execute();
        await tx.deleteFrom("chunks").where("id", "in", some).execute();
      });
    }
  }
  await store.write(async (tx) => {
    await tx.deleteFrom("outbox").where("lane", "=", `ingest:${id}`).execute();
    await tx.deleteFrom("document_bodies").where("document_id", "=", id).execute();
    await tx.deleteFrom("documents").where("id", "=", id).execute();
  });
}
