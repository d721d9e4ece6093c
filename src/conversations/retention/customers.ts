import { newId } from "#domain/ids.ts";
import { moveKind } from "#conversations/contacts/merge.ts";
import { removeFilesKind } from "#conversations/attachments/attachments.ts";
import type { Actor } from "#domain/conversation/message.ts";
import { storedSettings } from "#domain/workspace/settings.ts";
import { claimLanes, dueLanes } from "#database/queries/outbox.ts";
import { mergeContacts, unmergeContact } from "#conversations/contacts/merge.ts";
import type { ErasureResult } from "./erase-customer.ts";
import type { CustomerKey } from "#database/queries/customers.ts";
import { eraseCustomer, purgeIndex } from "./erase-customer.ts";
import { removeFiles } from "#conversations/attachments/remove-files.ts";
import type { Clock } from "#runtime/clock.ts";
import type { ConversationSearch } from "#database/search/contract.ts";
import type { Files } from "#files/contract.ts";
import type { Store } from "#database/contract.ts";
import { moveConversations } from "#conversations/contacts/move-conversations.ts";
import { closeWorkspace, emptyWorkspace } from "./remove-workspace.ts";

const leaseMs = 15_000;
/** After this many rounds the rest is left to a worker. */
const roundsMax = 1_000;

/** Operations of an administrator on customers and their data, outside the running server. */
export interface Customers {
  merge(
    workspaceId: string,
    fromId: string,
    intoId: string,
    actor: Actor,
  ): Promise<{ readonly from: string; readonly into: string }>;
  unmerge(
    workspaceId: string,
    contactId: string,
    actor: Actor,
  ): Promise<{ readonly contact: string; readonly from: string }>;
  erase(workspaceId: string, key: CustomerKey, progress: (line: string) => void): Promise<ErasureResult>;
  /** Closes a workspace and deletes all of it. Can be repeated after an interruption. */
  removeWorkspace(workspaceId: string, progress: (line: string) => void): Promise<void>;
}

export function createCustomers(dependencies: {
  readonly store: Store;
  readonly clock: Clock;
  readonly search: ConversationSearch;
  readonly files: Files;
}): Customers {
  const { store, clock, search, files } = dependencies;

  /** Moves the conversations at once, because no server may be running to do it. */
  async function moveConversationsNow(): Promise<void> {
    const id = newId("ses", clock.now());
    for (let round = 0; round < roundsMax; round += 1) {
      const now = clock.now();
      const lanes = (await dueLanes(store.read, now, { except: [], limit: 500 })).filter((lane) =>
        lane.startsWith("relink:"),
      );
      if (lanes.length === 0) return;
      const unordered = new Set([moveKind.kind]);
      const rows = await store.write((tx) => claimLanes(tx, lanes, { id, until: now + leaseMs }, now, unordered));
      if (rows.length === 0) return;
      for (const group of Map.groupBy(rows, ({ lane }) => lane).values()) {
        await store.write((tx) => moveConversations(tx, search, group.map(moveKind.read), clock.now()));
      }
    }
  }

  /** Deletes the files before the command ends, because no server may be running to do it. */
  async function removeFilesNow(): Promise<void> {
    const id = newId("ses", clock.now());
    const { signal } = new AbortController();
    for (let round = 0; round < roundsMax; round += 1) {
      const now = clock.now();
      const due = await store.read
        .selectFrom("outbox")
        .select("lane")
        .where("kind", "=", removeFilesKind.kind)
        .where("due_at", "<=", now)
        .where("dead_at", "is", null)
        .where((eb) => eb.or([eb("lease_id", "is", null), eb("lease_until", "<=", now)]))
        .limit(100)
        .execute();
      if (due.length === 0) return;
      const lanes = [...new Set(due.map(({ lane }) => lane))];
      const rows = await store.write((tx) => claimLanes(tx, lanes, { id, until: now + leaseMs }, now));
      if (rows.length === 0) return;
      await removeFiles({ store, files }, rows.map(removeFilesKind.read), signal);
    }
  }

  return {
    async merge(workspaceId, fromId, intoId, actor) {
      const merged = await store.write((tx) => mergeContacts(tx, workspaceId, fromId, intoId, actor, clock.now()));
      await moveConversationsNow();
      return merged;
    },
    async unmerge(workspaceId, contactId, actor) {
      const unmerged = await store.write((tx) => unmergeContact(tx, workspaceId, contactId, actor, clock.now()));
      await moveConversationsNow();
      return unmerged;
    },
    async erase(workspaceId, key, progress) {
      const { settings, ...row } = await store.read
        .selectFrom("workspaces")
        .select(["id", "name", "plan", "settings"])
        .where("id", "=", workspaceId)
        .executeTakeFirstOrThrow();
      const workspace = { ...row, settings: storedSettings(settings) };
      const result = await eraseCustomer({ store, clock, search, progress }, workspace, key);
      await removeFilesNow();
      return result;
    },
    async removeWorkspace(workspaceId, progress) {
      await store.write((tx) => closeWorkspace(tx, workspaceId, clock.now()));
      await emptyWorkspace({ store, clock, search }, workspaceId, new AbortController().signal, progress);
      await purgeIndex({ store, search });
      await removeFilesNow();
    },
  };
}
