import type { DeskConversation, DeskEvent, DeskView } from "#channels/desk/contract.ts";
import { conversationOfThread, messageShownAs, threadOf } from "#database/queries/desk.ts";
import type { ConversationRow } from "#database/queries/conversations.ts";
import { isDuplicate } from "#database/duplicate-key.ts";
import { insertWork } from "#database/queries/outbox.ts";
import type { Channels } from "#channels/channels.ts";
import type { Clock } from "#runtime/clock.ts";
import type { ConversationSearch } from "#database/search/contract.ts";
import type { Files } from "#files/contract.ts";
import type { Log } from "#runtime/log.ts";
import type { Reader, Store } from "#database/contract.ts";
import type { Wake } from "#runtime/signals.ts";
import type { Effects } from "#conversations/work/effects.ts";
import type { FindLocalWorker } from "#conversations/transaction/local-worker.ts";
import { claimForAgent } from "#conversations/transaction/local-worker.ts";
import { viewWindow } from "#conversations/delivery/reroute/reply-window.ts";
import type { Workspaces } from "#database/queries/workspaces.ts";
import { deskConversations } from "./sync/snapshot.ts";
import type { StoredDeskEvent } from "./incoming/event-work.ts";
import { deskEventKind } from "./incoming/event-work.ts";
import { storedDeskFiles } from "./incoming/agent-files.ts";

export interface DeskServiceDependencies {
  readonly store: Store;
  readonly clock: Clock;
  readonly wake: Wake;
  readonly workspaces: Workspaces;
  readonly search: ConversationSearch;
  readonly files: Pick<Files, "seal">;
  readonly publicUrl: string;
  readonly channels: Channels;
  readonly log: Log;
  readonly localWorker: FindLocalWorker;
}

/** Accepts agents' events from the desk's adapter and answers its queries. */
export interface DeskService {
  accept(
    account: { readonly id: string; readonly workspaceId: string },
    event: DeskEvent,
  ): Promise<{ readonly duplicate: boolean }>;
  conversationOf(accountId: string, thread: string): Promise<string | null>;
  conversationOfPost(accountId: string, messageId: string): Promise<string | null>;
  conversation(workspaceId: string, id: string): Promise<DeskConversation | null>;
  list(workspaceId: string, view: DeskView, limit: number): Promise<readonly DeskConversation[]>;
}

/**
 * Events of one thread run in order, and clicks on its card after earlier replies. Otherwise a reply whose file is still
 * being fetched would claim a conversation that its author has released meanwhile.
 */
async function laneOf(read: Reader, accountId: string, event: StoredDeskEvent): Promise<string> {
  const lane = (place: string): string => `desk-event:${accountId}:${place}`;
  if ("thread" in event) return lane(event.thread);
  const thread = await threadOf(read, event.conversationId);
  return lane(thread?.account_id === accountId ? (thread.external_id ?? event.conversationId) : event.conversationId);
}

export function createDeskService(dependencies: DeskServiceDependencies): DeskService {
  const { store, clock, wake, workspaces, search, files, publicUrl, channels, log, localWorker } = dependencies;

  async function snapshots(workspaceId: string, rows: readonly ConversationRow[]) {
    const workspace = await workspaces.get(workspaceId);
    if (workspace === undefined) return [];
    const now = clock.now();
    return deskConversations(
      {
        db: store.read,
        publicUrl,
        settings: workspace.settings,
        now,
        window: (row) => viewWindow({ read: store.read, channels, log, now }, row),
      },
      rows,
    );
  }

  const ofWorkspace = (workspaceId: string) =>
    store.read.selectFrom("conversations").selectAll().where("workspace_id", "=", workspaceId);

  return {
    async accept({ id, workspaceId }, event) {
      const now = clock.now();
      const taken: StoredDeskEvent =
        event.kind === "wrote" ? { ...event, files: storedDeskFiles(event.files, files.seal, now) } : event;
      const lane = await laneOf(store.read, id, taken);
      const work = deskEventKind.queued(lane, { accountId: id, workspaceId, event: taken }, now);
      let effects: Effects = { wake: [{ lane, dueAt: now }], threads: [], workspaces: [] };
      try {
        effects = await store.write(async (tx) => {
          await tx
            .insertInto("inbound_events")
            .values({
              account_id: id,
              external_id: `desk:${event.externalId}`,
              kind: "desk",
              // The outbox row holds the content and is deleted when the work is done.
              payload: "{}",
              target_external_id: null,
              conversation_id: null,
              message_id: null,
              received_at: now,
            })
            .execute();
          await insertWork(tx, [work], now);
          return claimForAgent(tx, localWorker(), effects, lane, now);
        });
      } catch (error) {
        if (isDuplicate(error)) return { duplicate: true };
        throw error;
      }
      localWorker()?.take(effects.taken ?? []);
      if (effects.wake.length > 0) wake.notify([lane], now);
      return { duplicate: false };
    },
    async conversationOf(accountId, thread) {
      return (await conversationOfThread(store.read, accountId, thread)) ?? null;
    },
    async conversationOfPost(accountId, messageId) {
      return (await messageShownAs(store.read, accountId, messageId))?.conversation_id ?? null;
    },
    async conversation(workspaceId, id) {
      const rows = await ofWorkspace(workspaceId).where("id", "=", id).execute();
      const [found] = await snapshots(workspaceId, rows);
      return found ?? null;
    },
    async list(workspaceId, view, limit) {
      switch (view.kind) {
        case "mine":
        case "open": {
          let query = ofWorkspace(workspaceId).where(
            "status",
            "in",
            view.kind === "mine" ? ["claimed", "snoozed"] : ["escalated", "open"],
          );
          if (view.kind === "mine") query = query.where("assigned_to", "=", view.email);
          const rows = await query
            // Escalated conversations come first.
            .orderBy((eb) => eb.case().when("status", "=", "escalated").then(0).else(1).end())
            .orderBy("last_message_at", "desc")
            .limit(limit)
            .execute();
          return snapshots(workspaceId, rows);
        }
        case "search": {
          const found = await search.find({ workspaceId }, view.text, undefined, limit);
          if (found.length === 0) return [];
          const ids = found.map(({ id }) => id);
          const rows = await ofWorkspace(workspaceId).where("id", "in", ids).execute();
          return snapshots(
            workspaceId,
            rows.toSorted((a, b) => ids.indexOf(a.id) - ids.indexOf(b.id)),
          );
        }
      }
    },
  };
}
