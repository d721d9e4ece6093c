import type { WorkDeclaration, WorkKind } from "#database/work.ts";
import { searchKind } from "#database/search/typesense/queue.ts";
import { knowledgeKind, vectorKind } from "#knowledge/index/work.ts";
import type { IndexRefresher } from "#knowledge/index/refresher.ts";
import { declarePasswordReset } from "#admin/sign-in/password-reset.ts";
import { declareMail, mailKind } from "#mail/work.ts";
import type { Metrics } from "#metrics/metrics.ts";
import type { WorkTable } from "#queue/work-table.ts";
import { createWorkTable } from "#queue/work-table.ts";
import type { Clock } from "#runtime/clock.ts";
import type { Log } from "#runtime/log.ts";
import type { Wake } from "#runtime/signals.ts";
import { declareWebhooks } from "#webhooks/deliver.ts";
import { declareEventRetention } from "#webhooks/retention.ts";
import type { Conversations } from "./conversations.ts";
import type { Services } from "./services.ts";

interface WorkParts extends Pick<Conversations, "engine" | "desk"> {
  readonly services: Services;
  readonly refresher: IndexRefresher;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly log: Log;
  readonly wake: Wake;
  readonly publicUrl: string;
}

/** All kinds of work. Kinds whose service is not configured are left to other processes. */
export function createWorks({
  services,
  engine,
  desk,
  refresher,
  metrics,
  clock,
  log,
  wake,
  publicUrl,
}: WorkParts): WorkTable {
  const { store, secrets, guardedFetch, documents, outside, knowledge, vectors, mail } = services;
  /** Answers use new documents and vectors at once. Those of other processes are found a little later. */
  const refreshing = (work: WorkDeclaration): WorkDeclaration => ({
    ...work,
    async run(rows, signal) {
      try {
        await work.run(rows, signal);
      } finally {
        refresher.look();
      }
    },
  });
  const optional: readonly (readonly [WorkKind, WorkDeclaration | undefined])[] = [
    [searchKind, outside?.work],
    [knowledgeKind, knowledge?.work],
    [mailKind, mail === undefined ? undefined : declareMail({ store, clock, secrets, transport: mail })],
    [vectorKind, vectors === undefined ? undefined : refreshing(vectors.work)],
  ];
  const webhooks = {
    store,
    clock,
    log,
    wake,
    guardedFetch,
    open: (sealed: string) => secrets.open(sealed),
    count: (outcome: string) => metrics.webhook(outcome),
  };
  return createWorkTable(
    [
      ...engine.work,
      ...desk.work,
      declareWebhooks(webhooks),
      declareEventRetention({ store, clock }),
      declarePasswordReset({ store, clock, secrets, publicUrl }),
      ...documents.work.map(refreshing),
      ...optional.flatMap(([, work]) => work ?? []),
    ],
    optional.flatMap(([kind, work]) => (work === undefined ? [kind] : [])),
  );
}
