import type { OutboxRow } from "#database/queries/outbox.ts";
import type { DeskService, DeskServiceDependencies } from "./desk-service.ts";
import { createDeskService } from "./desk-service.ts";
import type { DeskEventDependencies } from "./incoming/events.ts";
import { deskEvent, deskNotice } from "./incoming/events.ts";
import { eraseShown } from "./sync/erase.ts";
import { syncDesk } from "./sync/sync.ts";

/** Runs the desk's outbox work. The worker calls one method per kind. */
export interface DeskWork {
  /** Posts changes of a conversation to its thread at the desk. */
  sync(rows: readonly OutboxRow[], signal: AbortSignal): Promise<void>;
  /** Applies an event of the desk: a message, an edit, a click. */
  event(rows: readonly OutboxRow[], signal: AbortSignal): Promise<void>;
  notice(rows: readonly OutboxRow[], signal: AbortSignal): Promise<void>;
  /** Deletes the desk's posts of a deleted conversation. */
  erase(rows: readonly OutboxRow[], signal: AbortSignal): Promise<void>;
}

export interface AgentDesk {
  readonly service: DeskService;
  readonly work: DeskWork;
}

/** The agents' desk on a platform: shows conversations there and applies what agents do there. */
export function createAgentDesk(dependencies: DeskServiceDependencies & DeskEventDependencies): AgentDesk {
  return {
    service: createDeskService(dependencies),
    work: {
      sync: (rows, signal) => syncDesk(dependencies, rows, signal),
      async event(rows, signal) {
        for (const row of rows) await deskEvent(dependencies, row, signal);
      },
      async notice(rows, signal) {
        for (const row of rows) await deskNotice(dependencies, row, signal);
      },
      async erase(rows, signal) {
        for (const row of rows) await eraseShown(dependencies, row, signal);
      },
    },
  };
}
