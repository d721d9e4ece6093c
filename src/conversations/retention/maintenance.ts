import type { OutboxRow } from "#database/queries/outbox.ts";
import { finishWork } from "#database/queries/outbox.ts";
import type { Effects } from "#conversations/transaction/effects.ts";
import { createDailyCleanup } from "./daily-cleanup.ts";
import type { Clock } from "#runtime/clock.ts";
import type { ConversationSearch } from "#database/search/contract.ts";
import type { Fanout } from "#runtime/signals.ts";
import type { Files } from "#files/contract.ts";
import type { Log } from "#runtime/log.ts";
import type { Store } from "#database/contract.ts";
import { moveConversations } from "#conversations/contacts/move-conversations.ts";
import { purge } from "./remove-workspace.ts";
import { rescheduleTimers } from "#conversations/automation/reschedule-timers.ts";
import { agentTopic } from "#queue/signals/topics.ts";

/** Runs maintenance work of the outbox. The worker calls one method per kind. */
export interface Maintenance {
  /** Moves a merged contact's conversations. */
  moveConversations(rows: readonly OutboxRow[]): Promise<void>;
  /** Moves timers after a change of a workspace's settings. */
  rescheduleTimers(rows: readonly OutboxRow[], signal: AbortSignal): Promise<void>;
  dailyCleanup(rows: readonly OutboxRow[], signal: AbortSignal): Promise<void>;
  /** Deletes the rest of a deleted workspace. */
  purge(rows: readonly OutboxRow[], signal: AbortSignal): Promise<void>;
  /** Closes the live connections of a removed agent. */
  signOut(rows: readonly OutboxRow[]): Promise<void>;
}

export function createMaintenance(dependencies: {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly search: ConversationSearch;
  readonly files: Files;
  readonly fanout: Pick<Fanout, "publish">;
  readonly publishEffects: (effects: Effects) => void;
}): Maintenance {
  const { store, clock, search, fanout, publishEffects } = dependencies;
  return {
    async moveConversations(rows) {
      const effects = await store.write((tx) => moveConversations(tx, search, rows, clock.now()));
      if (effects !== null) publishEffects(effects);
    },
    rescheduleTimers: (rows, signal) => rescheduleTimers(dependencies, rows, signal),
    dailyCleanup: createDailyCleanup(dependencies),
    purge: (rows, signal) => purge(dependencies, rows, signal),
    async signOut(rows) {
      for (const { payload } of rows) {
        const { agentId } = JSON.parse(payload) as { readonly agentId: string };
        fanout.publish(agentTopic(agentId), "{}");
      }
      await store.write((tx) => finishWork(tx, rows));
    },
  };
}
