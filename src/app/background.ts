import { removeUnsentUploads } from "#conversations/attachments/remove-files.ts";
import { isSearchAway } from "#conversations/answering/turn-work.ts";
import { ChannelPaused } from "#conversations/delivery/paused.ts";
import { foldChanges } from "#conversations/reporting/changes.ts";
import { scheduleDailyCleanup } from "#conversations/retention/daily-cleanup.ts";
import type { CreatedEngine } from "#conversations/engine.ts";
import { TypesenseAway } from "#database/search/typesense/client.ts";
import { leaveTypesense } from "#database/search/typesense/queue.ts";
import { leaveTypesenseIndex } from "#knowledge/typesense/collection-state.ts";
import { leaveVectors } from "#knowledge/vectors/vectors.ts";
import type { InboundBurst } from "#queue/backpressure.ts";
import { openCleanupJob } from "#queue/cleanup-job.ts";
import type { OpenWake } from "#queue/signals/in-process.ts";
import type { WorkTable } from "#queue/work-table.ts";
import type { Worker } from "#queue/worker/worker.ts";
import { openWorker } from "#queue/worker/worker.ts";
import type { Clock } from "#runtime/clock.ts";
import type { End } from "#runtime/closing.ts";
import type { Log } from "#runtime/log.ts";
import { scheduleRetention } from "#webhooks/retention.ts";
import type { Services } from "./services.ts";
import { backoffMs } from "./work-backoff.ts";

interface BackgroundParts {
  readonly services: Services;
  readonly engine: CreatedEngine;
  readonly works: WorkTable;
  readonly wake: OpenWake;
  readonly processId: string;
  readonly inboundBurst: InboundBurst;
  readonly clock: Clock;
  readonly log: Log;
}

export interface Background {
  readonly worker: Worker;
  readonly cleanup: { close(): Promise<void> };
}

/** Starts the worker and the regular jobs. Processes that only serve HTTP have none. `opened` gets what must be closed. */
export async function openBackground(
  { services, engine, works, wake, processId, inboundBurst, clock, log }: BackgroundParts,
  opened: End[],
): Promise<Background> {
  const { store, documents, outside, knowledge, vectors } = services;
  await documents.resumePending();
  await scheduleRetention({ store, clock });
  const uploads = { store, clock, publishEffects: engine.publishEffects };
  const cleanup = openCleanupJob({
    clock,
    log,
    jobs: {
      "orphaned documents": () => documents.removeOrphans(),
      "counts of reports": () => foldChanges(store),
      "unsent uploads": () => removeUnsentUploads(uploads),
      "conversation search": async () => outside?.ensure(),
      "document search": async () => knowledge?.ensure(),
      // An older process that runs beside this one makes the vectors of its own model.
      vectors: async () => vectors?.ensure(),
    },
  });
  opened.push(() => cleanup.close());
  await (outside === undefined ? leaveTypesense(store) : outside.ensure());
  await vectors?.ensure();
  if (services.isMeaningOff) await leaveVectors(store);
  await (knowledge === undefined ? leaveTypesenseIndex(store) : knowledge.ensure());
  await scheduleDailyCleanup(store, clock);
  const worker = openWorker({
    store,
    clock,
    log,
    processId,
    works,
    lanesMax: 64,
    backoffMs,
    awayServer: (error) => {
      if (error instanceof ChannelPaused) return "a paused channel";
      return error instanceof TypesenseAway || isSearchAway(error) ? "the search engine" : undefined;
    },
    inboundBurst,
  });
  opened.push(() => worker.close(0));
  wake.listen((lane, dueAt) => worker.wake(lane, dueAt));
  return { worker, cleanup };
}
